// The text of a file as memory that is read piece by piece. Private to the readers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lamina/base/mapped_file.h"

namespace lamina {

/// The text of a file, decompressed where it is gzip (into a nameless file of a folder), that ends in '\n'. It can be
/// changed, which the file does not see.
class TextFile {
 public:
  /// `file`: the content of the file `path`. Throws Error(kIo | kBadData | kResource).
  TextFile(std::string_view file, const std::string& path, const std::string& scratch);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  std::span<char> text() const { return text_; }
  /// The whole pages in [begin, end) of the text leave the memory, and changes there are lost.
  void Release(const char* begin, const char* end) const;

 private:
  void Map(int descriptor, int64_t size_bytes, const std::string& path);

  std::span<char> text_;
};

}  // namespace lamina
