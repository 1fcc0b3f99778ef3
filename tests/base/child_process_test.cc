// Programs as children: what comes back, what is missing, and that none is left running.
#include "lamina/base/child_process.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/timing.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

int64_t NumberIn(const std::string& path) {
  const Stopwatch watch;
  while (watch.Elapsed_seconds() < 30) {
    if (std::error_code failed; std::filesystem::file_size(path, failed) > 1 && !failed) {
      return std::stoll(ReadFile(path));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ADD_FAILURE() << path << " was never written";
  return 0;
}

// Orphans are reaped by whoever adopts them, a moment later.
bool IsGone(int64_t process) {
  const Stopwatch watch;
  while (watch.Elapsed_seconds() < 30) {
    if (kill(static_cast<pid_t>(process), 0) != 0) {
      return true;
    }
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    const std::string line((std::istreambuf_iterator<char>(stat)), {});
    if (line.find(") Z ") != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(ChildProcess, WordsAreNotReadByAShell) {
  const TemporaryFolder folder;
  ChildProcess child({"printf", "%s|", "a b", "$HOME", ";ls", ""}, {.output_path = folder.Path("out")});
  child.Wait();
  EXPECT_TRUE(child.started());
  EXPECT_EQ(child.exit_status(), 0);
  EXPECT_EQ(ReadFile(folder.Path("out")), "a b|$HOME|;ls||");
}

TEST(ChildProcess, IsWaitedForUntilItComputesNoMore) {
  const TemporaryFolder folder;
  const std::string loop = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; ";
  ChildProcess child({"sh", "-c", loop + "echo; read line; echo; while :; do :; done"}, {.converses = true});
  EXPECT_TRUE(child.WaitUntilIdle(30));
  EXPECT_TRUE(child.Hear()) << "it was still counting";
  ASSERT_TRUE(child.Say("go on"));
  ASSERT_TRUE(child.Hear()) << "it goes on";
  EXPECT_FALSE(child.WaitUntilIdle(0.3));
}

TEST(ChildProcess, ThatDidNotStartIsNeverIdle) {
  EXPECT_FALSE(ChildProcess({"no-such-program-here"}).WaitUntilIdle(0.1));
}

TEST(ChildProcess, Converses) {
  ChildProcess child({"sh", "-c", "while read line; do echo \"<$line>\"; echo; done"}, {.converses = true});
  for (const std::string& line : {std::string("one"), std::string(9000, 'x')}) {  // more than one piece
    ASSERT_TRUE(child.Say(line));
    EXPECT_EQ(child.Hear(), "<" + line + ">");
    EXPECT_EQ(child.Hear(), "");
  }
  EXPECT_EQ(child.Hear([] { return true; }), std::nullopt);
  ChildProcess silent({"true"}, {.converses = true});
  EXPECT_EQ(silent.Hear(), std::nullopt);
  silent.Wait();
  EXPECT_FALSE(silent.Say("nobody is there"));  // and no SIGPIPE
}

TEST(ChildProcess, AnEmptyInputAndAFileOfOutput) {
  const TemporaryFolder folder;
  ChildProcess child({"sh", "-c", "cat; echo end"}, {.output_path = folder.Path("out")});
  child.Wait();
  EXPECT_EQ(ReadFile(folder.Path("out")), "end\n");
}

TEST(ChildProcess, ExitCodesSignalsAndErrors) {
  ChildProcess failing({"sh", "-c", "echo why >&2; exit 3"}, {.keep_errors = true});
  failing.Wait();
  EXPECT_EQ(failing.exit_status(), 3);
  EXPECT_EQ(failing.error_text(), "why\n");
  ChildProcess killed({"sh", "-c", "kill -KILL $$"});
  killed.Wait();
  EXPECT_EQ(killed.exit_status(), 128 + SIGKILL);
  ChildProcess wordy({"sh", "-c", "head -c 300000 /dev/zero >&2"}, {.keep_errors = true});
  wordy.Wait();
  EXPECT_EQ(wordy.error_text().size(), 300'000U) << "more than a pipe holds";
}

TEST(ChildProcess, WhatCannotBeStartedSaysWhyAndWhatToDo) {
  const TemporaryFolder folder;
  const ChildOptions options{.remedy = "apt-get install it"};
  ChildProcess missing({"lamina-no-such-program"}, options);
  EXPECT_TRUE(missing.Poll());
  EXPECT_EQ(missing.started().reason, "lamina-no-such-program is missing (apt-get install it)");
  EXPECT_EQ(missing.exit_status(), -1);
  const std::string path = folder.Write("script", "#!/bin/sh\n");
  ChildProcess refused({path}, options);
  refused.Wait();
  EXPECT_EQ(refused.started().reason, path + " does not start: Permission denied (apt-get install it)");
  ChildProcess found_none({"sh", "-c", "exit 127"}, options);
  found_none.Wait();
  EXPECT_TRUE(Mentions(found_none.started().reason, "sh is missing"));
}

TEST(ChildProcess, EndsWhenToldTo) {
  const TemporaryFolder folder;
  const std::string command = "sleep 600 & echo $! > " + folder.Path("inner") + "; wait";
  ChildProcess child({"sh", "-c", command}, {.own_group = true});
  int64_t inner = 0;
  child.Wait([&] {
    inner = NumberIn(folder.Path("inner"));
    return true;
  });
  EXPECT_EQ(child.exit_status(), 128 + SIGTERM);
  EXPECT_TRUE(IsGone(inner)) << "what it started ends with it";
}

TEST(ChildProcess, EndsWithItsObject) {
  const TemporaryFolder folder;
  int64_t process = 0;
  {
    const ChildProcess child({"sh", "-c", "echo $$ > " + folder.Path("id") + "; exec sleep 600"});
    process = NumberIn(folder.Path("id"));
    EXPECT_EQ(kill(static_cast<pid_t>(process), 0), 0);
  }
  EXPECT_NE(kill(static_cast<pid_t>(process), 0), 0);
}

TEST(ScratchFolder, GoesWithAllItHolds) {
  std::string path;
  {
    const ScratchFolder one("x");
    const ScratchFolder other("x");
    EXPECT_NE(one.Path(), other.Path());
    path = one.Path();
    std::filesystem::create_directories(one.Path("a/b"));
    std::ofstream(one.Path("a/b/c")) << "1";
    EXPECT_TRUE(std::filesystem::exists(path + "/a/b/c"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace lamina
