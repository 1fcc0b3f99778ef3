// Claims within a process and between two.
#include "lamina/base/file_claim.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "lamina/base/file.h"
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

// What stands under the name of a lock and is none stays as it is, whatever it is.
TEST(FileClaim, NoFileOfSomebodyElsesIsTakenForALock) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("model");
  const std::string lock = path + ".lamina-lock";
  const std::string other = folder.Write("other", "process 12 on here");
  const auto refused = [&] {
    const Error error = CaughtError([&] { FileClaim::Take(path); });
    EXPECT_EQ(error.context().file, lock) << error.what();
    EXPECT_EQ(ReadFile(other), "process 12 on here");
  };
  for (const char* text : {"mine", "process", "process 12", "process x on here", "process 12 on here\nand there"}) {
    folder.Write("model.lamina-lock", text);
    refused();
    EXPECT_EQ(ReadFile(lock), text);
  }
  std::filesystem::remove(lock);
  std::filesystem::create_symlink(other, lock);
  refused();
  EXPECT_TRUE(std::filesystem::is_symlink(lock));
  std::filesystem::remove(lock);
  std::filesystem::create_symlink(folder.Path("absent"), lock);  // it would be made
  refused();
  EXPECT_FALSE(std::filesystem::exists(folder.Path("absent")));
  std::filesystem::remove(lock);
  std::filesystem::create_hard_link(other, lock);
  refused();
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  refused();
  std::filesystem::remove(lock);
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  refused();
}

TEST(FileClaim, SpecialFilesAreNobodys) { EXPECT_EQ(FileClaim::Take("/dev/null"), nullptr); }

}  // namespace
}  // namespace lamina
