// A private mapping of the file, or of a copy of it that was decompressed or ended.
#include "lamina/data/files/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/base/text.h"
#include "lamina/data/files/gzip.h"
#include "lamina/data/files/number_file.h"
#include "lamina/platform/file.h"
#include "lamina/platform/memory.h"

namespace lamina {
namespace {

// A descriptor that is closed with the object.
struct OpenFile {
  explicit OpenFile(int opened) : descriptor(opened) {}
  ~OpenFile() { platform::Close(descriptor); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor;
};

}  // namespace

TextFile::TextFile(std::string_view file, const std::string& path, const std::string& scratch) {
  if (!IsGzip(file) && file.ends_with('\n')) {
    platform::FileFacts facts;
    const OpenFile opened(OpenForReading(path, facts));
    Map(opened.descriptor, std::ssize(file), path);
    return;
  }
  const OpenFile copy(OpenNamelessFile(scratch));
  int64_t size_bytes = 0;
  char last = '\n';
  const auto append = [&](std::string_view piece) {
    WriteAt(copy.descriptor, piece.data(), std::ssize(piece), size_bytes, scratch);
    size_bytes += std::ssize(piece);
    last = piece.empty() ? last : piece.back();
  };
  if (IsGzip(file)) {
    GunzipTo(file, path, append);
  } else {
    append(file);
  }
  if (last != '\n') {
    append("\n");
  }
  Map(copy.descriptor, size_bytes, path);
}

TextFile::~TextFile() {
  if (!text_.empty()) {
    platform::Unmap(text_.data(), std::ssize(text_));
  }
}

void TextFile::Map(int descriptor, int64_t size_bytes, const std::string& path) {
  if (size_bytes == 0) {
    return;
  }
  void* mapped = platform::MapFileForOwn(descriptor, size_bytes);
  if (mapped == nullptr) {
    throw Error(ErrorCode::kResource,
                fmt::format("cannot map {}: {}", BytesText(size_bytes), platform::ReasonOf(errno)), {.file = path});
  }
  text_ = {static_cast<char*>(mapped), static_cast<size_t>(size_bytes)};
}

void TextFile::Release(const char* begin, const char* end) const {
  const int64_t page = platform::PageSize_bytes();
  const int64_t first = (begin - text_.data() + page - 1) / page * page;
  const int64_t last = (end - text_.data()) / page * page;
  if (last > first) {
    platform::ReleasePages(text_.data() + first, last - first);
  }
}

}  // namespace lamina
