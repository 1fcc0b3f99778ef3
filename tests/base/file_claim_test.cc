// Claims within a process and between two.
#include "lamina/base/file_claim.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

TEST(FileClaim, OneAtATime) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("model");
  {
    const auto claim = FileClaim::Take(path);
    const Error error = CaughtError([&] { FileClaim::Take(path); });
    EXPECT_TRUE(Mentions(error.what(), path));
    EXPECT_TRUE(Mentions(error.what(), "process " + std::to_string(getpid()) + " on "));
    EXPECT_NE(FileClaim::Take(folder.Path("another")), nullptr);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(folder.Count(), 0);
  EXPECT_NE(FileClaim::Take(path), nullptr);
}

TEST(FileClaim, OfAKilledProcess) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("model");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto claim = FileClaim::Take(path);
    if (write(ready[1], "x", 1) == 1) {
      pause();
    }
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(Mentions(CaughtError([&] { FileClaim::Take(path); }).what(), "process " + std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(folder.Count(), 1);
  EXPECT_NE(FileClaim::Take(path), nullptr);
  EXPECT_EQ(folder.Count(), 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(FileClaim, SpecialFilesAreNobodys) { EXPECT_EQ(FileClaim::Take("/dev/null"), nullptr); }

}  // namespace
}  // namespace lamina
