// Rows are written with pwrite(), a piece's columns row by row.
#include "lamina/layer/shared_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/base/text.h"
#include "lamina/base/unfinished_files.h"
#include "lamina/data/files/npy_writer.h"

namespace lamina {
SharedOutput::SharedOutput(const std::string& path, int64_t all, int64_t begin, int64_t rows, int64_t cols, DType dtype,
                           Communicator& ranks)
    : path_(path), ranks_(ranks) {
  const int64_t row_bytes = cols * DTypeSize_bytes(dtype);
  const std::string header = NpyHeaderText(all, cols, dtype);
  const int64_t file_bytes = std::ssize(header) + all * row_bytes;
  offset_ = std::ssize(header) + begin * row_bytes;
  memory_bytes_ = std::max<int64_t>(1, rows * row_bytes);
  if (ranks.is_first()) {
    CreatedPart part = CreatePart(path_);
    descriptor_ = part.descriptor;
    part_ = std::move(part.path);
    RememberUnfinished(part_);
    int error = posix_fallocate(descriptor_, 0, file_bytes);
    error = error == EOPNOTSUPP || error == EINVAL ? (ftruncate(descriptor_, file_bytes) == 0 ? 0 : errno) : error;
    if (error != 0) {
      close(descriptor_);
      unlink(part_.c_str());
      ForgetUnfinished(part_);
      ThrowFileError(path, fmt::format("reserve {}", BytesText(file_bytes)), error);
    }
    WriteAt(descriptor_, header.data(), std::ssize(header), 0, path_);
  }
  part_ = ranks.AllGather(part_).front();
  if (!ranks.is_first()) {
    descriptor_ = open(part_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor_ < 0) {
      ThrowFileError(part_, "open what the first rank made for all: the folder must be one that all hosts share",
                     errno);
    }
  }
  memory_ = mmap(nullptr, static_cast<size_t>(memory_bytes_), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) {
    memory_ = nullptr;
    throw Error(ErrorCode::kResource, fmt::format("cannot map {}: {}", BytesText(memory_bytes_), std::strerror(errno)),
                {.file = path_});
  }
  view_ = {memory_, rows, cols, cols, dtype, Space::kHost};
}

SharedOutput::~SharedOutput() {
  if (memory_ != nullptr) {
    munmap(memory_, static_cast<size_t>(memory_bytes_));
  }
  if (descriptor_ >= 0) {
    close(descriptor_);
    unlink(part_.c_str());  // whoever fails: the job ends with it
    ForgetUnfinished(part_);
  }
}

void SharedOutput::Write(int64_t begin, int64_t rows, int64_t col, int64_t cols) const {
  const int64_t element_bytes = DTypeSize_bytes(view_.dtype);
  const int64_t row_bytes = view_.cols * element_bytes;
  const auto* bytes = static_cast<const char*>(memory_);
  const bool whole = cols == view_.cols;
  for (int64_t i = begin; i < begin + rows; i += whole ? rows : 1) {
    const int64_t at = i * row_bytes + col * element_bytes;
    WriteAt(descriptor_, bytes + at, whole ? rows * row_bytes : cols * element_bytes, offset_ + at, path_);
  }
}

void SharedOutput::Release(int64_t begin, int64_t rows) const noexcept {
  const int64_t row_bytes = view_.cols * DTypeSize_bytes(view_.dtype);
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t first = (begin * row_bytes + page - 1) / page * page;  // the ends may be others' who still write
  const int64_t last = (begin + rows) * row_bytes / page * page;
  if (last > first) {
    madvise(static_cast<char*>(memory_) + first, static_cast<size_t>(last - first), MADV_DONTNEED);
  }
}

void SharedOutput::Commit() {
  if (fsync(descriptor_) != 0) {
    ThrowFileError(path_, "write", errno);
  }
  ranks_.Barrier();
  if (ranks_.is_first() && std::rename(part_.c_str(), path_.c_str()) != 0) {
    ThrowFileError(path_, "name the file", errno);
  }
  ranks_.Barrier();
  close(descriptor_);
  descriptor_ = -1;
  ForgetUnfinished(part_);
}

}  // namespace lamina
