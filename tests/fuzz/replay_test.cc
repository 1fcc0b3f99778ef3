// Every input in corpus/ and every one that ever broke something (crashes/), on its target, without clang; and the
// kernels on random problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/source_folder.h"

namespace lamina::fuzz {
namespace {

std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

const std::filesystem::path kFolder = std::filesystem::path(SourceFolder()) / "tests" / "fuzz";

class FuzzReplay : public testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzReplay, CorpusAndCrashes) {
  const std::string name(GetParam().name);
  size_t seeds = 0;
  for (const char* kind : {"corpus", "crashes"}) {
    for (const auto& path : FilesIn(kFolder / kind / name)) {
      SCOPED_TRACE(path.string());
      const std::string input = ReadFile(path.string());
      EXPECT_NO_THROW(GetParam().run(input));
      for (size_t size = 0; size < input.size(); size += 1 + input.size() / 16) {
        EXPECT_NO_THROW(GetParam().run(std::string_view(input).substr(0, size))) << "cut to " << size;
      }
      ++seeds;
    }
  }
  EXPECT_GT(seeds, 0U) << "no input in tests/fuzz/corpus/" << name;
}

TEST_P(FuzzReplay, RandomBytes) {
  Random random(7, 21);
  for (int run = 0; run < 50; ++run) {
    std::string input(random.Below(64), '\0');
    for (char& byte : input) {
      byte = static_cast<char>(random.Below(256));
    }
    EXPECT_NO_THROW(GetParam().run(input)) << testing::PrintToString(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(FuzzTargets().begin(), FuzzTargets().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FuzzReplay, EveryFolderIsOfATarget) {
  for (const char* kind : {"corpus", "crashes"}) {
    for (const auto& path : FilesIn(kFolder / kind)) {
      EXPECT_NE(FindFuzzTarget(path.filename().string()), nullptr) << path;
    }
  }
}

}  // namespace
}  // namespace lamina::fuzz
