// The table of files that are not whole yet, from many threads: preset tsan looks at it.
#include "lamina/base/unfinished_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "lamina/base/file.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

TEST(UnfinishedFiles, ThreadsComeAndGoWhileOneStays) {
  const TemporaryFolder folder;
  const std::string stays = folder.Path("stays");
  const std::string goes = folder.Path("goes");
  WriteFileAtomically(stays, "half");
  WriteFileAtomically(goes, "whole");
  RememberUnfinished(stays);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const std::string path = i % 2 == 0 ? goes : fmt::format("{}.{}.{}", goes, thread, i);
        RememberUnfinished(path);
        ForgetUnfinished(path);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  RemoveUnfinished();
  EXPECT_FALSE(std::filesystem::exists(stays));
  EXPECT_TRUE(std::filesystem::exists(goes));
  ForgetUnfinished(stays);
}

}  // namespace
}  // namespace lamina
