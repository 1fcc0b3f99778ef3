// Tests of zip archives: what is in them, and every kind of damage.
#include "lamina/data/files/zip_file.h"

#include "tests/data/book_writer.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

std::string ReadMember(const std::string& archive, const std::string& name) {
  const ZipFile zip(archive, "t.zip");
  const ZipMember* member = zip.Find(name);
  EXPECT_NE(member, nullptr) << name;
  return member == nullptr ? "" : zip.ReadWhole(*member, 1 << 30);
}

std::string Long() {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += std::to_string(i * 7919 % 10007) + ",";
  }
  return text;
}

void ExpectBadZip(const std::string& archive, std::initializer_list<std::string_view> parts,
                  ErrorCode code = ErrorCode::kBadData) {
  const ErrorContext context = ExpectError([&] { ReadMember(archive, "a"); }, code, parts);
  EXPECT_EQ(context.file, "t.zip");
}

TEST(ZipFileTest, ReadsStoredAndPackedMembers) {
  for (const bool packed : {false, true}) {
    const std::string archive = ZipOf({{"a", Long()}, {"Folder/B.xml", "<b/>"}, {"empty", ""}, {"x\\y", "z"}}, packed);
    EXPECT_EQ(ReadMember(archive, "a"), Long());
    EXPECT_EQ(ReadMember(archive, "folder/b.XML"), "<b/>");
    EXPECT_EQ(ReadMember(archive, "empty"), "");
    EXPECT_EQ(ReadMember(archive, "x/y"), "z");
    EXPECT_EQ(ZipFile(archive, "").Find("b.xml"), nullptr);
    EXPECT_EQ(ZipFile(archive, "").members().size(), 4U);
  }
  EXPECT_TRUE(ZipFile(ZipOf({}), "").members().empty());
}

TEST(ZipFileTest, CommentsAtTheEndDoNotMatter) {
  std::string archive = ZipOf({{"a", "1"}});
  archive[archive.size() - 2] = 9;
  archive += "a comment";
  EXPECT_EQ(ReadMember(archive, "a"), "1");
}

TEST(ZipFileTest, EveryCutIsAnError) {
  const std::string archive = ZipOf({{"a", "some content"}, {"b", "more"}});
  for (size_t size = 0; size < archive.size(); ++size) {
    ExpectBadZip(archive.substr(0, size), {"zip archive", "again"});
  }
}

// One byte the other way round gives the same content, another size or sum, or an error; never another content.
TEST(ZipFileTest, EveryDamagedByteIsSeenOrDoesNotMatter) {
  for (const bool packed : {false, true}) {
    const std::string archive = ZipOf({{"a", "some content, some content"}}, packed);
    int errors = 0;
    for (size_t at = 0; at < archive.size(); ++at) {
      std::string damaged = archive;
      damaged[at] = static_cast<char>(~damaged[at]);
      try {
        const ZipFile zip(damaged, "t.zip");
        const ZipMember* member = zip.Find("a");
        EXPECT_TRUE(member == nullptr || zip.ReadWhole(*member, 1 << 20) == "some content, some content") << at;
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("t.zip"), std::string_view::npos);
        ++errors;
      }
    }
    EXPECT_GT(errors, 40);
  }
}

TEST(ZipFileTest, SumsAndSizesAreChecked) {
  const std::string archive = ZipOf({{"a", "content"}}, /*packed=*/false);
  const size_t list = archive.find("PK\x01\x02");
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string changed = archive;
    return changed.replace(list + at, bytes.size(), bytes);
  };
  ExpectBadZip(with(16, "\x01\x02\x03\x04"), {"'a'", "CRC-32"});
  ExpectBadZip(with(24, LittleEndianBytes(6, 4)), {"'a'", "more than it says"});
  ExpectBadZip(with(24, LittleEndianBytes(8, 4)), {"'a'", "does not unpack to what it says"});
  ExpectBadZip(with(20, LittleEndianBytes(700, 4)), {"'a'", "cut off"});
  ExpectBadZip(with(42, LittleEndianBytes(3, 4)), {"'a'", "not where it should be"});
  ExpectBadZip(with(8, LittleEndianBytes(1, 2)), {"'a'", "encrypted", "password"}, ErrorCode::kUnsupported);
  ExpectBadZip(with(10, LittleEndianBytes(12, 2)), {"'a'", "method 12"}, ErrorCode::kUnsupported);
  ExpectBadZip(with(24, "\xFF\xFF\xFF\xFF"), {"zip64", "CSV"}, ErrorCode::kUnsupported);
}

TEST(ZipFileTest, WhatUnpacksToTheMemoryIsRefusedBeforeIt) {
  ExpectBadZip(ZipOf({{"a", std::string(100 << 20, ' ')}}), {"'a'", "unpack to 100 MiB"});
  const std::string archive = ZipOf({{"a", Long()}});
  const ZipFile zip(archive, "t.zip");
  ExpectError([&] { zip.ReadWhole(*zip.Find("a"), 1000); }, ErrorCode::kBadData, {"t.zip", "'a'"});
}

TEST(ZipFileTest, DamageComesBeforeWhatItCaused) {
  std::string archive = ZipOf({{"a", "content"}}, /*packed=*/false);
  const auto read = [&] {
    const ZipFile zip(archive, "t.zip");
    zip.Read(*zip.Find("a"), [](std::string_view) { throw Error(ErrorCode::kBadData, "the reader's"); });
  };
  ExpectError(read, ErrorCode::kBadData, {"the reader's"});
  archive[archive.find("content")] = 'C';
  ExpectError(read, ErrorCode::kBadData, {"CRC-32"});
}

}  // namespace
}  // namespace lamina
