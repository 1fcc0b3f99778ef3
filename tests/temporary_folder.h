// A folder for one test, removed with all it holds.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "lamina/base/scratch_folder.h"

namespace lamina {

class TemporaryFolder : public ScratchFolder {
 public:
  TemporaryFolder() : ScratchFolder("test") {}

  /// Writes a file and gives its path.
  std::string Write(const std::string& name, std::string_view content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  /// How many files and folders are in it.
  int Count() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(Path())) {
      ++count;
    }
    return count;
  }
};

}  // namespace lamina
