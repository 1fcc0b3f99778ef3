// Every column has a part of the file as long as it can become.
#include "lamina/data/files/number_file.h"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkostemp
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "lamina/base/part_file.h"

namespace lamina {

int OpenNamelessFile(const std::string& folder) {
  std::string path = folder + "/.lamina-XXXXXX";
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) {
    ThrowFileError(folder, "make a temporary file in the folder", errno);
  }
  unlink(path.c_str());
  return descriptor;
}

NumberFile::NumberFile(std::string folder, int64_t columns, int64_t most_rows)
    : folder_(std::move(folder)), descriptor_(OpenNamelessFile(folder_)) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t bytes = most_rows * static_cast<int64_t>(sizeof(double));
  column_bytes_ = (bytes + page - 1) / page * page;
  if (ftruncate(descriptor_, columns * column_bytes_) != 0) {
    const int error = errno;
    close(descriptor_);
    ThrowFileError(folder_, "make a temporary file in the folder", error);
  }
}

NumberFile::~NumberFile() { close(descriptor_); }

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
