// Taking text of unknown origin apart, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace lamina {

/// Bytes of the UTF-8 character at `at`, which is inside of `text`; 0 where there is none.
inline size_t Utf8Length(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (at + length > text.size()) {
    return 0;
  }
  for (size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[at + k]) & 0xc0) != 0x80) {
      return 0;
    }
  }
  return length;
}

}  // namespace lamina
