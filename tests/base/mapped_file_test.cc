// Files as memory, and that a full disk is an Error.
#include "lamina/base/mapped_file.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

TEST(MappedFile, HoldsTheContentAlsoAfterRelease) {
  const TemporaryFolder folder;
  const std::string content(100'001, 'x');
  const MappedFile file(folder.Write("f", content));
  ASSERT_EQ(file.content().size(), content.size());
  file.mapping().Prefetch(0, 100'001);
  EXPECT_EQ(std::memcmp(file.content().data(), content.data(), content.size()), 0);
  file.mapping().Release(5000, 90'000);
  file.mapping().Release(0, 1 << 30);  // cut at the end of the file
  EXPECT_EQ(std::memcmp(file.content().data(), content.data(), content.size()), 0);
}

TEST(MappedFile, Errors) {
  const TemporaryFolder folder;
  EXPECT_EQ(CaughtError([&] { MappedFile(folder.Path("none")); }).code(), ErrorCode::kNotFound);
  EXPECT_TRUE(Mentions(CaughtError([&] { MappedFile(folder.Write("f", "")); }).what(), "empty"));
  EXPECT_TRUE(Mentions(CaughtError([&] { MappedFile(folder.Path()); }).what(), "directory"));
  EXPECT_TRUE(Mentions(CaughtError([] { MappedFile("/dev/null"); }).what(), "regular"));
}

TEST(MappedOutput, TakesItsNameWhenCommitted) {
  const TemporaryFolder folder;
  folder.Write("f", "old");
  {
    const MappedOutput output(folder.Path("f"), 10'000);
    std::memset(output.data(), 'n', 10'000);
    EXPECT_EQ(ReadFile(folder.Path("f")), "old");
    EXPECT_EQ(folder.Count(), 2);
  }
  EXPECT_EQ(ReadFile(folder.Path("f")), "old");
  EXPECT_EQ(folder.Count(), 1) << "nothing is left over";
  MappedOutput output(folder.Path("f"), 10'000);
  std::memset(output.data(), 'n', 10'000);
  output.Finish(0, 4096);
  output.data()[0] = std::byte{'m'};  // finished ranges may be written again
  output.Commit();
  EXPECT_EQ(ReadFile(folder.Path("f")), "m" + std::string(9'999, 'n'));
  EXPECT_EQ(folder.Count(), 1);
}

// More than any disk holds, and the limit on file sizes: both before anything is written.
TEST(MappedOutput, NoRoomIsAnErrorThatNamesTheNeed) {
  const TemporaryFolder folder;
  const Error huge = CaughtError([&] { MappedOutput(folder.Path("f"), int64_t{1} << 43); });
  EXPECT_EQ(huge.code(), ErrorCode::kIo);
  EXPECT_TRUE(Mentions(huge.what(), "8 TiB"));
  EXPECT_FALSE(huge.context().remedy.empty());
  EXPECT_EQ(folder.Count(), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit limit{1 << 20, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Error error = CaughtError([&] { MappedOutput(folder.Path("f"), 3 << 20); });
  setrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(Mentions(error.what(), "3 MiB"));
  EXPECT_EQ(folder.Count(), 0);
}

TEST(MappedOutput, RefusesDevicesAndFolders) {
  const TemporaryFolder folder;
  EXPECT_TRUE(Mentions(CaughtError([] { MappedOutput("/dev/full", 10); }).what(), "regular file"));
  EXPECT_TRUE(Mentions(CaughtError([&] { MappedOutput(folder.Path(), 10); }).what(), "directory"));
  EXPECT_EQ(CaughtError([&] { MappedOutput(folder.Path("none/f"), 10); }).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace lamina
