// A strict parser of .npy headers.
#include "lamina/data/files/npy_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

// Parses the Python dictionary literal of the header, which has exactly the keys descr, fortran_order and
// shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& source) : text_(text), rest_(text), source_(source) {}

  NpyHeader Parse() {
    NpyHeader header;
    bool seen[3] = {};
    Expect('{');
    while (!Accept('}')) {
      const std::string key = Quoted();
      Expect(':');
      const size_t which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      if (which == 3 || seen[which]) {
        Fail();
      }
      seen[which] = true;
      if (which == 0) {
        header.descr = Quoted();
      } else if (which == 1) {
        header.fortran_order = Boolean();
      } else {
        header.shape = Shape();
      }
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    SkipSpace();
    if (!rest_.empty() || !seen[0] || !seen[1] || !seen[2]) {
      Fail();
    }
    return header;
  }

 private:
  [[noreturn]] void Fail() const { ThrowBadNpy(source_, "broken .npy header", text_); }
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \t\n"))); }
  bool Accept(char c) {
    SkipSpace();
    if (rest_.empty() || rest_[0] != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) {
      Fail();
    }
  }
  std::string Quoted() {
    SkipSpace();
    if (rest_.starts_with('[')) {
      ThrowBadNpy(source_, "an array of records, one of numbers was expected", text_);
    }
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const size_t close = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (close == std::string_view::npos) {
      Fail();
    }
    std::string word(rest_.substr(1, close - 1));
    rest_.remove_prefix(close + 1);
    return word;
  }
  bool Boolean() {
    SkipSpace();
    for (const std::string_view word : {"True", "False"}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    }
    Fail();
  }
  std::vector<int64_t> Shape() {
    std::vector<int64_t> shape;
    Expect('(');
    while (!Accept(')')) {
      SkipSpace();
      const size_t length = std::min(rest_.size(), rest_.find_first_not_of("0123456789"));
      const auto size = ParseInteger(rest_.substr(0, length));
      if (!size) {
        Fail();
      }
      shape.push_back(*size);
      rest_.remove_prefix(length);
      if (!Accept(',')) {
        Expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  std::string_view rest_;
  const std::string& source_;
};

}  // namespace

void ThrowBadNpy(const std::string& source, const std::string& message, std::string_view value, const char* remedy) {
  throw Error(ErrorCode::kBadData, message,
              {.file = source, .value = std::string(value.substr(0, 120)), .remedy = remedy});
}

std::string NpyHeader::ShapeText() const {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

NpyHeader ParseNpyHeader(std::string_view content, const std::string& source) {
  if (!content.starts_with(kNpyMagic) || content.size() < 12) {
    ThrowBadNpy(source, "not a .npy file (no \\x93NUMPY at its start)");
  }
  const int major = static_cast<uint8_t>(content[6]);
  if (major < 1 || major > 3) {
    ThrowBadNpy(source, "unknown version of the .npy format", std::to_string(major));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t b = 0; b < length_bytes; ++b) {
    length |= static_cast<size_t>(static_cast<uint8_t>(content[8 + b])) << (8 * b);
  }
  const size_t start = 8 + length_bytes;
  if (length > content.size() - start) {
    ThrowBadNpy(source, fmt::format("truncated: header of {} bytes, file holds {}", length, content.size() - start));
  }
  NpyHeader header = HeaderParser(content.substr(start, length), source).Parse();
  header.data_offset = start + length;
  return header;
}

int64_t NpyData_bytes(const NpyHeader& header, int64_t element_bytes, size_t held_bytes, const std::string& source) {
  int64_t need_bytes = element_bytes;
  for (const int64_t size : header.shape) {
    if (__builtin_mul_overflow(need_bytes, size, &need_bytes)) {
      ThrowBadNpy(source, "shape of more elements than can be counted", header.ShapeText());
    }
  }
  if (need_bytes == 0) {
    ThrowBadNpy(source, "holds no data, its shape is", header.ShapeText());
  }
  if (static_cast<uint64_t>(need_bytes) != held_bytes) {
    ThrowBadNpy(source, fmt::format("{}: shape {} of {} needs {} bytes, file holds {}",
                                    held_bytes < static_cast<uint64_t>(need_bytes) ? "truncated" : "too long",
                                    header.ShapeText(), header.descr, need_bytes, held_bytes));
  }
  return need_bytes;
}

}  // namespace lamina
