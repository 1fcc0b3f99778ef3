// Rows are written where they stand, a piece's columns row by row.
#include "lamina/layer/shared_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/base/text.h"
#include "lamina/base/unfinished_files.h"
#include "lamina/data/files/npy_writer.h"
#include "lamina/platform/file.h"
#include "lamina/platform/memory.h"

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
    int error = platform::Reserve(descriptor_, file_bytes);
    error = error == platform::kNoReserve ? (platform::Resize(descriptor_, file_bytes) ? 0 : errno) : error;
    if (error != 0) {
      platform::Close(descriptor_);
      platform::Remove(part_.c_str());
      ForgetUnfinished(part_);
      ThrowFileError(path, fmt::format("reserve {}", BytesText(file_bytes)), error);
    }
    WriteAt(descriptor_, header.data(), std::ssize(header), 0, path_);
  }
  part_ = ranks.AllGather(part_).front();
  if (!ranks.is_first()) {
    descriptor_ = platform::Open(part_.c_str(), platform::OpenFor::kUpdatingOwn);
    if (descriptor_ < 0) {
      ThrowFileError(part_, "open what the first rank made for all: the folder must be one that all hosts share",
                     errno);
    }
  }
  memory_ = platform::MapZeros(memory_bytes_, /*alignment=*/1, /*overcommit=*/true);
  if (memory_ == nullptr) {
    throw Error(ErrorCode::kResource,
                fmt::format("cannot map {}: {}", BytesText(memory_bytes_), platform::ReasonOf(errno)), {.file = path_});
  }
  view_ = {memory_, rows, cols, cols, dtype, Space::kHost};
}

SharedOutput::~SharedOutput() {
  if (memory_ != nullptr) {
    platform::Unmap(memory_, memory_bytes_);
  }
  if (descriptor_ >= 0) {
    platform::Close(descriptor_);
    platform::Remove(part_.c_str());  // whoever fails: the job ends with it
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
  const int64_t page = platform::PageSize_bytes();
  const int64_t first = (begin * row_bytes + page - 1) / page * page;  // the ends may be others' who still write
  const int64_t last = (begin + rows) * row_bytes / page * page;
  if (last > first) {
    platform::ReleasePages(static_cast<char*>(memory_) + first, last - first);
  }
}

void SharedOutput::Commit() {
  if (!platform::Flush(descriptor_)) {
    ThrowFileError(path_, "write", errno);
  }
  ranks_.Barrier();
  if (ranks_.is_first() && !platform::Rename(part_.c_str(), path_.c_str())) {
    ThrowFileError(path_, "name the file", errno);
  }
  ranks_.Barrier();
  platform::Close(descriptor_);
  descriptor_ = -1;
  ForgetUnfinished(part_);
}

}  // namespace lamina
