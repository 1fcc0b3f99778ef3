// Keeping others away from files of one's own.
#pragma once

#include <memory>
#include <string>

namespace lamina {

/// Held as long as it lives, and no longer than the process, however that ends.
class FileLock {
 public:
  /// Locks a file or folder that is there; null where somebody else, in this process or another, holds it. File systems
  /// without locks keep nobody away. Throws Error(kNotFound | kIo).
  static std::unique_ptr<FileLock> Take(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace lamina
