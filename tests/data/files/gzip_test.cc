// Tests of gzip reading: several members, truncation, damage.
#include "lamina/data/files/gzip.h"

#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string LongText() {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += std::to_string(i * 7919 % 10007) + ",";
  }
  return text;
}

TEST(GzipTest, ReadsPlainAndCompressedFilesAlike) {
  const TemporaryFolder dir;
  const std::string text = LongText();
  EXPECT_EQ(ReadFileDecompressed(dir.Write("plain.gz", text)), text);  // by content, not by name
  EXPECT_EQ(ReadFileDecompressed(dir.Write("packed", Gzip(text))), text);
  EXPECT_EQ(ReadFileDecompressed(dir.Write("empty", Gzip(""))), "");
}

TEST(GzipTest, ReadsSeveralMembersAndPadding) {
  EXPECT_EQ(Gunzip(Gzip("abc") + Gzip("") + Gzip(LongText()) + std::string(512, '\0'), "f"), "abc" + LongText());
  ExpectError([] { Gunzip(Gzip("abc") + "junk", "f.gz"); }, ErrorCode::kBadData, {"f.gz", "4 bytes"});
}

TEST(GzipTest, GrowsBeyondWrongClaims) {
  std::string zeros = Gzip(std::string(10 << 20, 'x'));  // ratio about 1000
  EXPECT_EQ(Gunzip(zeros, "f").size(), size_t{10} << 20);
  std::string lying = Gzip(LongText());
  std::fill(lying.end() - 4, lying.end(),
            '\xff');  // claims 4 GiB: must fail on the check, not allocate 4 GiB
  ExpectError([&] { Gunzip(lying, "f.gz"); }, ErrorCode::kBadData, {"damaged gzip"});
}

TEST(GzipTest, RefusesTruncatedAndDamagedData) {
  const std::string packed = Gzip(LongText());
  for (const size_t size : {size_t{2}, size_t{5}, size_t{10}, size_t{100}, packed.size() / 2, packed.size() - 1}) {
    ExpectError([&] { Gunzip(packed.substr(0, size), "f.gz"); }, ErrorCode::kBadData, {"f.gz", "truncated gzip"});
  }
  std::string crc = packed;
  crc[crc.size() - 6] ^= 1;
  ExpectError([&] { Gunzip(crc, "f.gz"); }, ErrorCode::kBadData, {"f.gz", "damaged gzip"});
  std::string body = packed;
  body[body.size() / 2] ^= 0x55;
  ExpectError([&] { Gunzip(body, "f.gz"); }, ErrorCode::kBadData, {"f.gz"});
}

}  // namespace
}  // namespace lamina
