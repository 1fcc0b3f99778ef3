// Every column has a part of the file as long as it can become.
#include "lamina/data/files/number_file.h"

#include <cerrno>
#include <utility>

#include "lamina/base/part_file.h"
#include "lamina/platform/file.h"
#include "lamina/platform/memory.h"

namespace lamina {

int OpenNamelessFile(const std::string& folder) {
  const int descriptor = platform::OpenNameless(folder);
  if (descriptor < 0) {
    ThrowFileError(folder, "make a temporary file in the folder", errno);
  }
  return descriptor;
}

NumberFile::NumberFile(std::string folder, int64_t columns, int64_t most_rows)
    : folder_(std::move(folder)), descriptor_(OpenNamelessFile(folder_)) {
  const int64_t page = platform::PageSize_bytes();
  const int64_t bytes = most_rows * static_cast<int64_t>(sizeof(double));
  column_bytes_ = (bytes + page - 1) / page * page;
  if (!platform::Resize(descriptor_, columns * column_bytes_)) {
    const int error = errno;
    platform::Close(descriptor_);
    ThrowFileError(folder_, "make a temporary file in the folder", error);
  }
}

NumberFile::~NumberFile() { platform::Close(descriptor_); }

void NumberFile::Write(int64_t column, int64_t row, std::span<const double> numbers) {
  WriteAt(descriptor_, numbers.data(), static_cast<int64_t>(numbers.size_bytes()),
          column * column_bytes_ + row * static_cast<int64_t>(sizeof(double)), folder_);
}

std::shared_ptr<const Mapping> NumberFile::Map(int64_t column, int64_t rows) const {
  return rows == 0 ? nullptr
                   : std::make_shared<const Mapping>(descriptor_, rows * static_cast<int64_t>(sizeof(double)), false,
                                                     folder_, column * column_bytes_);
}

}  // namespace lamina
