// Taking text of unknown origin apart, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace lamina {

/// A letter of ASCII in lower case, whatever the locale: std::tolower leaves "I" as it is in Turkish.
constexpr char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Bytes of the UTF-8 character at `at`, which is inside `text`. 0 where there is none by RFC 3629: no overlong forms,
/// no surrogates, nothing above U+10FFFF.
inline size_t Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return at + i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return follows(1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Bytes of the start of `text` that are whole characters, `most` at most.
inline size_t Utf8Fit(std::string_view text, size_t most) {
  size_t end = text.size() < most ? text.size() : most;
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return end;
}

/// The code point of the character at `at`, which has `length` bytes (Utf8Length, not 0).
inline char32_t Utf8Code(std::string_view text, size_t at, size_t length) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) {
    return byte(0);
  }
  char32_t code = byte(0) & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    code = code << 6 | (byte(i) & 0x3FU);
  }
  return code;
}

/// Whether a character steers instead of being shown: controls (C0, DEL, C1), ends of lines and paragraphs, and marks,
/// embeddings, overrides and isolates. The last four turn the direction of text.
constexpr bool Steers(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace lamina
