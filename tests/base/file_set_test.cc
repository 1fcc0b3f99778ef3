// Several files as one result: all of them, or none and no folder.
#include "lamina/base/file_set.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "lamina/base/output_folder.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// While it exists no file may become larger.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(FileSet, FilesGetTheirNamesTogether) {
  const TemporaryFolder folder;
  FileSet set;
  set.Add(folder.Write("a", "old"), "new");
  set.Begin(folder.Path("b")).Write("bit ");
  EXPECT_EQ(ReadFile(folder.Path("a")), "old");
  EXPECT_FALSE(std::filesystem::exists(folder.Path("b")));
  set.Commit();
  EXPECT_EQ(ReadFile(folder.Path("a")), "new");
  EXPECT_EQ(ReadFile(folder.Path("b")), "bit ");
  EXPECT_EQ(folder.Count(), 2);
}

TEST(FileSet, WhereOneCannotBeWrittenNoneIs) {
  const TemporaryFolder folder;
  const std::string out = folder.Path("new/deep/out");
  folder.Write("old", "mine");
  const std::vector<std::string> names{"small", "large"};
  {
    const SmallFiles limit(10'000);
    FileSet set;
    ClaimNames(out, names, set);
    set.Add(folder.Path("old"), "theirs");
    set.Add(out + "/small", "s");
    set.Add(out + "/large", std::string(20'000, 'l'));
    EXPECT_EQ(CaughtError([&] { set.Commit(); }).context().file, out + "/large");
  }
  EXPECT_EQ(folder.Count(), 1);  // neither files nor folders
  EXPECT_EQ(ReadFile(folder.Path("old")), "mine");
}

TEST(FileSet, WithoutCommitOthersFilesKeepTheirFolder) {
  const TemporaryFolder folder;
  {
    FileSet set;
    set.MakeFolder(folder.Path("made/inner"));
    set.Add(folder.Path("made/inner/part"), "p");
    folder.Write("made/somebody", "mine");
  }
  EXPECT_EQ(ReadFile(folder.Path("made/somebody")), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder.Path("made/inner")));
}

TEST(FileSet, WhatCannotTakeItsNameTakesTheNewOnesWithIt) {
  const TemporaryFolder folder;
  FileSet set;
  set.Add(folder.Path("first"), "f");
  set.Add(folder.Path("second"), "s");
  std::filesystem::create_directory(folder.Path("second"));  // meanwhile
  EXPECT_EQ(CaughtError([&] { set.Commit(); }).context().file, folder.Path("second"));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("first")));
}

TEST(FileSet, MoreFilesThanDescriptors) {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit now{160, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &now);
  FileSet set;
  for (int i = 0; i < 180; ++i) {
    set.Add(folder.Path("f" + std::to_string(i)), "x");
  }
  set.Commit();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(folder.Count(), 180);
}

}  // namespace
}  // namespace lamina
