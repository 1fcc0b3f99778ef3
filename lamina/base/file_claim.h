// Who writes a file for as long as a run takes, which says so to other runs.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace lamina {

/// The right to write `path` among the runs that ask for it: PATH.lamina-lock, which says who has it and is gone with
/// the claim. What a killed process left of it is taken over.
class FileClaim {
 public:
  /// Null for what is no regular file (/dev/null). File systems without locks keep nobody away. Throws Error(kIo),
  /// naming the process, where another run has it, even of this process. Throws it, too, where something else than such
  /// a lock (a link, somebody's file) has its name; that stays as it is.
  static std::unique_ptr<FileClaim> Take(const std::string& path);
  ~FileClaim();
  FileClaim(const FileClaim&) = delete;
  FileClaim& operator=(const FileClaim&) = delete;

 private:
  explicit FileClaim(std::string lock_path) : lock_path_(std::move(lock_path)) {}

  std::string lock_path_;
  int descriptor_ = -1;  // of the lock, once it is this one's
};

}  // namespace lamina
