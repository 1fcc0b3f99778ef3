// Tests of gzip reading: several members, truncation, damage.
#include "lamina/data/files/gzip.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "lamina/data/files/reader.h"
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

int64_t PeakMemory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

// How much memory a call takes, by a child of its own.
int64_t PeakGrowth_bytes(const std::function<void()>& fn) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  if (const pid_t child = fork(); child == 0) {
    const int64_t before = PeakMemory_bytes();
    try {
      fn();
    } catch (const Error&) {
    }
    const int64_t growth = PeakMemory_bytes() - before;
    const ssize_t written = write(ends[1], &growth, sizeof(growth));
    _exit(written == sizeof(growth) ? 0 : 1);
  } else {
    int64_t growth = -1;
    EXPECT_EQ(read(ends[0], &growth, sizeof(growth)), static_cast<ssize_t>(sizeof(growth)));
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    return growth;
  }
}

TEST(GzipTest, MemoryIsOfTheSizeOfTheContent) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "memory of its own";
#endif
  const TemporaryFolder dir;
  std::string random;
  for (int i = 0; i < 1'000'000; ++i) {
    random += static_cast<char>('a' + i * int64_t{48271} % 2147483647 % 23);
  }
  std::string cut = Gzip("x,y\n" + random);
  cut.resize(cut.size() - 4);  // the last four bytes are no longer the length
  dir.Write("cut.csv.gz", cut);
  EXPECT_LT(PeakGrowth_bytes([&] { ReadTable(dir.Path("cut.csv.gz")); }), 32 << 20);
  // What is no table is seen from its first bytes.
  dir.Write("bomb.gz", Gzip(std::string(200 << 20, '\0')));
  EXPECT_LT(PeakGrowth_bytes([&] { ReadTable(dir.Path("bomb.gz")); }), 32 << 20);
  ExpectError([&] { ReadTable(dir.Path("bomb.gz")); }, ErrorCode::kBadData, {"bomb.gz", "unknown format"});
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
