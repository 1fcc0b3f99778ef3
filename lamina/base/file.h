// Whole-file reading and all-or-nothing writing.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/part_file.h"

namespace lamina {

/// The bytes of the regular file `path`. Throws Error(kNotFound) or Error(kIo) (a directory, no permission, ...).
std::string ReadFile(const std::string& path);

/// Opens `path` for reading only to see that it is there and a regular file; throws like ReadFile.
void RequireReadableFile(const std::string& path);

/// Throws Error(kIo) unless files can be created in the folder that is to hold `path` (called before long work).
void RequireWritableTarget(const std::string& path);

/// A path and what it was given as ("--model"), for errors.
struct NamedPath {
  std::string name;
  std::string path;
};

/// The files of one run, declared once by whoever reads and writes them. Empty paths: not given.
struct FileUse {
  std::vector<NamedPath> read;
  std::vector<NamedPath> written;

  /// The files that `name` stands for: one, or those of a folder.
  void AddRead(const std::string& name, const std::vector<std::string>& paths);
};

/// Called before any work. Throws Error(kInvalidArgument) where a file to be written is also read, or written twice,
/// whatever its name (links, "./"). Throws Error(kNotFound | kIo) where a file cannot be written. What is no regular
/// file (/dev/null) may be given twice.
void CheckFiles(const FileUse& files);

/// Whether both name one file that is there, or the same place for one that is not.
bool IsSameFile(const std::string& a, const std::string& b);

/// Writes a file beside its target; Commit() renames it over the target. Whenever the process dies, readers see the old
/// file or the new one, whole. Without Commit the temporary is removed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);

  /// Appends; throws Error(kIo) with the system's reason (a full disk, say).
  void Write(const void* data, size_t size_bytes);
  void Write(std::string_view text) { Write(text.data(), text.size()); }
  /// What Commit() does but for the name: PartFile::Complete().
  void Complete(bool keep_lock = true);
  /// Flushes to the disk (fsync), renames, and flushes the folder.
  void Commit();

 private:
  PartFile file_;
  std::string pending_;
  void Flush();
};

/// AtomicFile in one call. Targets that are not regular files (/dev/stdout, a pipe) are written directly.
void WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace lamina
