// A file that is written beside its target and takes its name when it is complete: what AtomicFile and MappedOutput
// share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace lamina {
namespace platform {
struct FileFacts;
}

/// Throws Error(kNotFound | kIo): "cannot DOING: the system's reason", with a remedy where there is one. `error`:
/// errno.
[[noreturn]] void ThrowFileError(const std::string& path, const std::string& doing, int error);

/// A descriptor of the file `path` for reading, and what it is. Throws like ReadFile.
int OpenForReading(const std::string& path, platform::FileFacts& facts);

/// Writes all of it at `offset`. Throws Error(kIo), naming `path`: the disk is full.
void WriteAt(int descriptor, const void* data, int64_t size_bytes, int64_t offset, const std::string& path);

/// Whether `path` exists and is neither a regular file nor a folder: /dev/null, a pipe, ...
bool IsSpecialFile(const std::string& path);

/// Whether `path` itself, which is no link, is what `descriptor` has opened.
bool IsNameOf(const std::string& path, int descriptor);

/// A name beside `target` that lamina knows as its own: NAME.lamina-MARK with `ending`. MARK is `number` and a checksum
/// of it with NAME, which a person does not come upon.
std::string OwnName(const std::string& target, uint32_t number, std::string_view ending);
/// Such a name for what becomes `target` later, another one each time: NAME.lamina-MARK.part.
std::string NewPartName(const std::string& target);
/// NAME of the name NAME.lamina-MARK.part, without folders; empty for a name that NewPartName() did not make.
std::string_view FileOfPart(std::string_view name);

/// A new file beside a target, by NewPartName(), and its descriptor for writing.
struct CreatedPart {
  std::string path;
  int descriptor = -1;
};

/// Creates a part of `target`. Its descriptor holds a lock (flock), which tells everybody that its writer lives: keep
/// it open until the part has its final name. Throws Error(kNotFound | kIo), naming `target`.
CreatedPart CreatePart(const std::string& target);

/// Removes the parts in `folder` of files NAME that which(NAME) accepts and whose writers have ended, on whatever
/// machine they ran. Those of a file system without locks stay, and so does what CreatePart() did not name.
void RemoveAbandonedParts(const std::string& folder, const std::function<bool(std::string_view)>& which);

/// Creates a part of `path`; Commit() renames it over `path`, the destructor removes it otherwise. What processes that
/// were killed left of `path` is removed, too. A special file is written in place.
class PartFile {
 public:
  /// Throws Error(kNotFound | kIo) where `path` cannot be written.
  explicit PartFile(std::string path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  bool in_place() const { return in_place_; }
  /// Flushes to the disk (fsync) and closes: all that can fail of a file that is written. Once. Without its lock others
  /// may take it for abandoned until it has its name. Throws Error(kIo).
  void Complete(bool keep_lock = true);
  /// The same where it is still to be done, then renames, and flushes the folder. Throws Error(kIo).
  void Commit();

 private:
  std::string path_;
  std::string temporary_path_;  // empty: in place, or it has its name
  bool in_place_ = false;
  int descriptor_ = -1;
  int lock_ = -1;  // of what is complete
};

/// Removes the files that this process has not committed: for handlers of signals that end it.
void RemovePartFiles() noexcept;

}  // namespace lamina
