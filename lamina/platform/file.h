// Files and folders as the system has them. What fails leaves its reason in errno; messages are for those who call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lamina::platform {

/// What a name or a descriptor stands for.
struct FileFacts {
  enum class Kind { kFile, kFolder, kPipe, kOther };
  Kind kind = Kind::kOther;
  int64_t size_bytes = 0;
  uint64_t links = 0;
  uint64_t device = 0;  // with number: which file it is
  uint64_t number = 0;

  bool is_file() const { return kind == Kind::kFile; }
  bool is_folder() const { return kind == Kind::kFolder; }
};

/// What the system says of an error's number.
std::string ReasonOf(int error);
/// Whether it says that there is no room: a full disk, or all that a user may have.
bool IsFullDisk(int error) noexcept;
/// Whether it says that there is no such file, or not any more.
bool IsMissing(int error) noexcept;

std::optional<FileFacts> FactsOf(int descriptor) noexcept;
/// Facts of the name itself: a link is kOther.
std::optional<FileFacts> FactsOf(const char* path) noexcept;
/// Facts of what the name leads to.
std::optional<FileFacts> FactsOfTarget(const char* path) noexcept;

/// The longest path, with its end.
constexpr size_t kLongestPath_bytes = 4096;

enum class OpenFor {
  kReading,
  kReadingOwn,   // what should be lamina's own: follows no link, waits for no pipe
  kWriting,      // in place
  kCreating,     // a new file, to read and write; refused where the name is taken
  kLocking,      // to read and write, created where it is missing; follows no link, waits for no pipe
  kUpdatingOwn,  // to read and write what is there; follows no link
};
/// A descriptor that programs started from here do not get; -1 where it cannot be.
int Open(const char* path, OpenFor use) noexcept;
/// A second descriptor of the same file, which keeps its lock; -1 where it cannot be.
int Duplicate(int descriptor) noexcept;
/// A new file in `folder` that has no name any more; -1 where it cannot be.
int OpenNameless(const std::string& folder);
/// False: what was written before did not arrive.
bool Close(int descriptor) noexcept;

/// Bytes that were read or written, 0 at the end; -1 where it failed.
ptrdiff_t Read(int descriptor, void* data, size_t size_bytes) noexcept;
ptrdiff_t ReadAt(int descriptor, void* data, size_t size_bytes, int64_t offset) noexcept;
ptrdiff_t Write(int descriptor, const void* data, size_t size_bytes) noexcept;
ptrdiff_t WriteAt(int descriptor, const void* data, size_t size_bytes, int64_t offset) noexcept;

/// Waits until what was written is on the disk.
bool Flush(int descriptor) noexcept;
/// The same of the names in a folder, where that can be had.
void FlushFolder(const char* folder) noexcept;
/// Begins to write this part to the disk, where the system can be told so.
void BeginFlush(int descriptor, int64_t offset, int64_t size_bytes) noexcept;
bool Resize(int descriptor, int64_t size_bytes) noexcept;
/// Makes the disk keep room for so many bytes. Returns the error's number; kNoReserve where the file system cannot.
constexpr int kNoReserve = -1;
int Reserve(int descriptor, int64_t size_bytes) noexcept;

enum class Lock { kTaken, kHeld, kNotKnown };
/// Takes the lock of an open file for this process, without waiting. kHeld: another one has it; kNotKnown: there are no
/// locks there.
Lock TryLock(int descriptor) noexcept;

bool Exists(const char* path) noexcept;
bool MayWriteInto(const char* folder) noexcept;
bool Remove(const char* path) noexcept;
bool RemoveFolder(const char* path) noexcept;
bool Rename(const char* from, const char* to) noexcept;
/// Each gets the name of the other, at once. False where the file system cannot.
bool ExchangeNames(const char* a, const char* b) noexcept;
/// A second name for a file.
bool Link(const char* from, const char* to) noexcept;
bool MakeFolder(const char* path) noexcept;
/// A folder that nobody else has, for this user alone: "XXXXXX" at the end of `path` becomes what makes it new.
bool MakeOwnFolder(std::string& path);
/// Calls for each name in `folder`; for none where it cannot be read.
void EachName(const std::string& folder, const std::function<void(std::string_view)>& call);

}  // namespace lamina::platform
