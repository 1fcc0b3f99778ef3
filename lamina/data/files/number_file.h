// Columns of numbers in a file instead of in memory. Private to the readers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lamina/base/mapped_file.h"

namespace lamina {

/// A file without a name in `folder`, which is gone when nobody maps it any more, however the process ends. What was
/// not written takes no space on the disk.
class NumberFile {
 public:
  /// Throws Error(kNotFound | kIo).
  NumberFile(std::string folder, int64_t columns, int64_t most_rows);
  ~NumberFile();
  NumberFile(const NumberFile&) = delete;
  NumberFile& operator=(const NumberFile&) = delete;

  /// Writes rows [row, row + numbers.size()) of a column. Throws Error(kIo): the disk is full.
  void Write(int64_t column, int64_t row, std::span<const double> numbers);
  /// The first `rows` of a column; null for none.
  std::shared_ptr<const Mapping> Map(int64_t column, int64_t rows) const;

 private:
  std::string folder_;
  int descriptor_ = -1;
  int64_t column_bytes_;
};

/// A descriptor of a new file without a name in `folder`. Throws Error(kNotFound | kIo).
int OpenNamelessFile(const std::string& folder);

}  // namespace lamina
