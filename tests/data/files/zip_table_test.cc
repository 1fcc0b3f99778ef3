// A table alone in a zip archive is read as the table itself; several files are named.
#include "lamina/data/files/zip_table.h"

#include "lamina/data/files/reader.h"
#include "tests/data/book_writer.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr const char* kThreeRows = "a,b\n1,2\n3,4\n5,x\n";

Table ReadZip(const std::string& archive, const ReadOptions& options = {}) {
  const TemporaryFolder folder;
  return ReadTable(folder.Write("t.zip", archive), options);
}

TEST(ZipTableTest, TheOnlyFileIsRead) {
  const TemporaryFolder scratch;
  for (const std::string& folder : {std::string(), scratch.Path()}) {
    for (const bool packed : {false, true}) {
      const Table table = ReadZip(ZipOf({{"rows.csv", kThreeRows}}, packed), {.scratch = folder});
      EXPECT_EQ(table.rows, 3);
      EXPECT_EQ(table.columns.size(), 2U);
    }
  }
}

TEST(ZipTableTest, WhatSystemsAddDoesNotCount) {
  EXPECT_EQ(ReadZip(ZipOf({{"data/", ""},
                           {"data/rows.csv", kThreeRows},
                           {"__MACOSX/data/._rows.csv", "?"},
                           {"data/.DS_Store", "?"}}))
                .rows,
            3);
}

TEST(ZipTableTest, WhatIsInsideMayBeOfAnyFormat) {
  EXPECT_EQ(ReadZip(ZipOf({{"rows.csv.gz", Gzip(kThreeRows)}})).rows, 3);
  const std::string book = ZipOf(XlsxParts({{"sheet", "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>"}}));
  EXPECT_EQ(OnlyFileInZip(ZipOf({{"book.xlsx", book}}), "t.zip"), book);
  EXPECT_EQ(OnlyFileInZip(book, "t.xlsx"), std::nullopt);
  EXPECT_EQ(OnlyFileInZip(kThreeRows, "t.csv"), std::nullopt);
}

TEST(ZipTableTest, OthersAreRefused) {
  ExpectError(
      [] {
        ReadZip(ZipOf({{"a.csv", kThreeRows}, {"b.csv", kThreeRows}}));
      },
      ErrorCode::kBadData, {"t.zip", "holds 'a.csv', 'b.csv'", "Unpack it"});
  ExpectError(
      [] {
        ReadZip(ZipOf({{"a.zip", ZipOf({{"b.csv", kThreeRows}})}}));
      },
      ErrorCode::kBadData, {"t.zip", "holds 'b.csv'"});
  ExpectError([] { ReadZip(ZipOf({{"empty.csv", ""}})); }, ErrorCode::kBadData, {"t.zip", "empty"});
  ExpectError(
      [] {
        ReadZip(ZipOf({{"rows.csv", kThreeRows}}), {.sheet = "Data"});
      },
      ErrorCode::kInvalidArgument, {"has no sheets"});
  std::string cut = ZipOf({{"rows.csv", kThreeRows}});
  cut.resize(cut.size() / 2);
  ExpectError([&] { ReadZip(cut); }, ErrorCode::kBadData, {"t.zip", "zip archive"});
}

}  // namespace
}  // namespace lamina
