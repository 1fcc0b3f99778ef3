// A folder for files that live as long as an object.
#pragma once

#include <string>

namespace lamina {

/// A new, empty folder among the system's temporary ones, removed with all it holds.
class ScratchFolder {
 public:
  /// `purpose` becomes part of its name. Throws Error(kNotFound | kIo).
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// The path of the folder, or of a file in it.
  std::string Path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace lamina
