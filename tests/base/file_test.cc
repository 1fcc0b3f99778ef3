// Reading files, and writing them so that nobody ever sees half of one.
#include "lamina/base/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

template <class Fn>
ErrorCode CodeOf(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    EXPECT_FALSE(error.context().file.empty()) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kUnsupported;
}

TEST(File, WriteThenRead) {
  const TemporaryFolder folder;
  const std::string content = std::string("a\0b\n", 4) + std::string(3 << 20, 'x');
  WriteFileAtomically(folder.Path("f"), content);
  EXPECT_EQ(ReadFile(folder.Path("f")), content);
  WriteFileAtomically(folder.Path("f"), "");
  EXPECT_EQ(ReadFile(folder.Path("f")), "");
  EXPECT_EQ(folder.Count(), 1);
}

TEST(File, ReadErrors) {
  const TemporaryFolder folder;
  EXPECT_EQ(CodeOf([&] { ReadFile(folder.Path("none")); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([&] { ReadFile(folder.Path()); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { RequireReadableFile(folder.Path("none")); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([&] { RequireReadableFile(folder.Path()); }), ErrorCode::kIo);
  WriteFileAtomically(folder.Path("f"), "x");
  RequireReadableFile(folder.Path("f"));
  EXPECT_EQ(CodeOf([&] { ReadFile(folder.Path("f/g")); }), ErrorCode::kIo) << "a file is no folder";
}

TEST(File, ReadsFilesWithoutASize) { EXPECT_FALSE(ReadFile("/proc/self/status").empty()); }

TEST(AtomicFile, WithoutCommitTheOldFileStays) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.Path("f"), "old");
  {
    AtomicFile file(folder.Path("f"));
    file.Write(std::string(2 << 20, 'n'));
    EXPECT_EQ(ReadFile(folder.Path("f")), "old");
  }
  EXPECT_EQ(ReadFile(folder.Path("f")), "old");
  EXPECT_EQ(folder.Count(), 1) << "nothing is left over";
}

TEST(AtomicFile, AKilledWriterLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("f");
  WriteFileAtomically(path, "old");
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe2(ready.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file(path);
    file.Write(std::string(4 << 20, 'n'));  // larger than the buffer, so part of it is on the disk
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(folder.Count(), 2) << "the writer was in the middle";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(ReadFile(path), "old");
}

// From its creation until it has its final name, a part is its writer's, whoever else looks for parts of the dead.
TEST(PartFile, NobodyTakesThePartOfALivingWriter) {
  const TemporaryFolder folder;
  constexpr int kFiles = 300;
  std::atomic<bool> done = false;
  std::vector<std::thread> lookers;
  for (int i = 0; i < 3; ++i) {
    lookers.emplace_back([&] {
      while (!done) {
        RemoveAbandonedParts(folder.Path(), [](std::string_view) { return true; });
      }
    });
  }
  for (int i = 0; i < kFiles; ++i) {
    EXPECT_NO_THROW(WriteFileAtomically(folder.Path("f"), std::to_string(i)));
    EXPECT_EQ(ReadFile(folder.Path("f")), std::to_string(i));
  }
  done = true;
  for (std::thread& looker : lookers) {
    looker.join();
  }
  EXPECT_EQ(folder.Count(), 1) << "parts are left";
}

// A part is known by its name; whatever else is beside the file stays, and no link is followed.
TEST(PartFile, WhatIsNoPartStays) {
  const TemporaryFolder folder;
  const std::string left = NewPartName(folder.Path("f"));
  WriteFileAtomically(left, "");
  EXPECT_EQ(FileOfPart(std::filesystem::path(left).filename().string()), "f");
  const std::vector<std::string> others{"f.part",
                                        "f.old",
                                        "f.4242.part",
                                        "f.4242-1.part",
                                        "f.lamina-0123456789abcdef.part",
                                        "f.lamina-.part",
                                        std::filesystem::path(NewPartName("g")).string()};
  for (const std::string& name : others) {
    folder.Write(name, "mine");
    EXPECT_EQ(FileOfPart(name), name[0] == 'g' ? "g" : "") << name;
  }
  const std::string link = NewPartName(folder.Path("f"));
  std::filesystem::create_symlink("f.part", link);
  WriteFileAtomically(folder.Path("f"), "new");
  EXPECT_FALSE(std::filesystem::exists(left));
  for (const std::string& name : others) {
    EXPECT_EQ(ReadFile(folder.Path(name)), "mine") << name;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(PartFile, EveryPartHasAnotherName) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    names.insert(NewPartName("f"));
  }
  EXPECT_EQ(names.size(), 1000U);
}

TEST(PartFile, TwoThreadsWriteOneFile) {
  const TemporaryFolder folder;
  PartFile first(folder.Path("f"));
  PartFile second(folder.Path("f"));
  WriteAt(first.descriptor(), "longer", 6, 0, first.path());
  WriteAt(second.descriptor(), "two", 3, 0, second.path());
  first.Commit();
  EXPECT_EQ(ReadFile(folder.Path("f")), "longer");
  second.Commit();
  EXPECT_EQ(ReadFile(folder.Path("f")), "two");
  EXPECT_EQ(folder.Count(), 1);
}

TEST(AtomicFile, FullDisk) {
  EXPECT_EQ(CodeOf([] { WriteFileAtomically("/dev/full", "x"); }), ErrorCode::kIo);
  try {
    WriteFileAtomically("/dev/full", std::string(3 << 20, 'x'));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
    EXPECT_FALSE(error.context().remedy.empty());
  }
}

// The limit on file sizes stands in for a disk that fills up in the middle of a regular file.
TEST(AtomicFile, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.Path("f"), "old");
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit limit{1 << 20, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(CodeOf([&] { WriteFileAtomically(folder.Path("f"), std::string(3 << 20, 'x')); }), ErrorCode::kIo);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, old_handler);
  EXPECT_EQ(ReadFile(folder.Path("f")), "old");
  EXPECT_EQ(folder.Count(), 1);
}

TEST(AtomicFile, WritesIntoPipesAndDevicesInPlace) {
  WriteFileAtomically("/dev/null", "x");
  const TemporaryFolder folder;
  const std::string path = folder.Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  WriteFileAtomically(path, "through");
  std::array<char, 16> text{};
  EXPECT_EQ(read(reader, text.data(), text.size()), 7);
  close(reader);
  EXPECT_EQ(folder.Count(), 1);
}

TEST(AtomicFile, ImpossibleTargets) {
  const TemporaryFolder folder;
  EXPECT_EQ(CodeOf([&] { WriteFileAtomically(folder.Path(), "x"); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { RequireWritableTarget(folder.Path()); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { WriteFileAtomically(folder.Path("none/f"), "x"); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([&] { RequireWritableTarget(folder.Path("none/f")); }), ErrorCode::kNotFound);
  RequireWritableTarget(folder.Path("new"));
  EXPECT_EQ(folder.Count(), 0);
}

TEST(CheckFiles, NoOutputOverAnInputOrAnotherOutput) {
  const TemporaryFolder folder;
  const NamedPath data{"--data", folder.Path("x")};
  const auto code = [&](std::vector<NamedPath> written) {
    return CodeOf([&] { CheckFiles({{data}, std::move(written)}); });
  };
  EXPECT_EQ(code({{"--model", folder.Path("x")}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{"--model", folder.Path("./x")}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{"--model", folder.Path("m")}, {"--history", folder.Path("m")}}), ErrorCode::kInvalidArgument);
  std::filesystem::create_symlink("x", folder.Path("link"));
  folder.Write("x", "1");
  EXPECT_EQ(code({{"--model", folder.Path("link")}}), ErrorCode::kInvalidArgument);
  std::filesystem::create_hard_link(folder.Path("x"), folder.Path("other"));
  EXPECT_EQ(code({{"--model", folder.Path("other")}}), ErrorCode::kInvalidArgument) << "one file with two names";
  const std::vector<NamedPath> fine{{"--model", folder.Path("m")},
                                    {"--history", ""},
                                    {"--json", ""},
                                    {"--checkpoint", "/dev/null"},
                                    {"--history-json", "/dev/null"}};
  EXPECT_NO_THROW(CheckFiles({{data}, fine}));
  EXPECT_EQ(code({{"--model", folder.Path("absent/m")}}), ErrorCode::kNotFound);
  const Error refused = CaughtError([&] { CheckFiles({{data}, {{"--history", folder.Path("x")}}}); });
  EXPECT_EQ(refused.message(), "--history would overwrite the file of --data");
  EXPECT_EQ(refused.context().file, folder.Path("x"));
}

}  // namespace
}  // namespace lamina
