// iconv(3).
#include "lamina/platform/encoding.h"

#include <iconv.h>

#include <cerrno>
#include <vector>

namespace lamina::platform {
namespace {

// A conversion that is closed with the object.
class Conversion {
 public:
  explicit Conversion(const std::string& from) : handle_(iconv_open("UTF-8", from.c_str())) {}
  ~Conversion() {
    if (is_open()) {
      iconv_close(handle_);
    }
  }
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what iconv_open returns where it fails
  bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  std::string Convert(std::string_view text) {
    constexpr size_t kPiece_bytes = 1 << 16;
    constexpr std::string_view kNoCharacter = "\xEF\xBF\xBD";
    std::string out;
    std::vector<char> piece(kPiece_bytes);
    char* in = const_cast<char*>(text.data());  // iconv() does not write there
    size_t left = text.size();
    while (left > 0) {
      char* at = piece.data();
      size_t free = piece.size();
      const size_t result = iconv(handle_, &in, &left, &at, &free);
      out.append(piece.data(), at);
      if (result == static_cast<size_t>(-1) && errno != E2BIG) {  // no character, or the text ends within one
        out += kNoCharacter;
        ++in;
        --left;
      }
    }
    return out;
  }

 private:
  iconv_t handle_;
};

}  // namespace

std::optional<std::string> ToUtf8(std::string_view text, const std::string& encoding) {
  Conversion conversion(encoding);
  return conversion.is_open() ? std::optional(conversion.Convert(text)) : std::nullopt;
}

}  // namespace lamina::platform
