// Files as memory: a read-only mapping, and an output of known size that is written through a mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "lamina/base/part_file.h"

namespace lamina {

/// An address range that ends with the object.
class Mapping {
 public:
  Mapping() = default;
  /// From `offset` of the file on, a whole number of pages. Throws Error(kResource) where the range cannot be had.
  /// `writable`: shared with the file, else read-only.
  Mapping(int descriptor, int64_t size_bytes, bool writable, const std::string& path, int64_t offset = 0);
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  /// Takes the pages of a range out of the resident memory of this process; the content stays (in the file). Pages
  /// that are only partly in the range go, too.
  void Release(int64_t offset, int64_t length) const noexcept;
  /// Asks the system to read a range ahead.
  void Prefetch(int64_t offset, int64_t length) const noexcept;

 private:
  std::byte* data_ = nullptr;
  int64_t size_bytes_ = 0;
};

/// The file that is mapped at `address`, as a message names it; null for other addresses. A handler of SIGBUS needs it:
/// a mapping raises that signal where somebody shortened its file.
const char* MappedFileAt(const void* address) noexcept;

/// The content of a regular file. A file that somebody shortens meanwhile ends the process (SIGBUS), as with any
/// mapping; MappedFileAt() tells a handler which it was.
class MappedFile {
 public:
  /// Throws Error(kNotFound | kIo), also for an empty file and for what is no regular file.
  explicit MappedFile(const std::string& path);
  std::span<const std::byte> content() const { return {mapping_.data(), static_cast<size_t>(mapping_.size_bytes())}; }
  const Mapping& mapping() const { return mapping_; }

 private:
  Mapping mapping_;
};

/// A file of a given size, mapped for writing. Its space is reserved on the disk before anything is written, so that a
/// full disk is an Error here and no fault later. Takes its name at Commit() (PartFile).
class MappedOutput {
 public:
  /// Throws Error(kIo): the disk is too full (the size is named), or `path` is no regular file.
  MappedOutput(const std::string& path, int64_t size_bytes);

  std::byte* data() const { return mapping_.data(); }
  /// The range is complete: its pages leave the resident memory and start on their way to the disk.
  void Finish(int64_t offset, int64_t length) const noexcept;
  const Mapping& mapping() const { return mapping_; }
  void Commit() { file_.Commit(); }

 private:
  PartFile file_;
  Mapping mapping_;
};

}  // namespace lamina
