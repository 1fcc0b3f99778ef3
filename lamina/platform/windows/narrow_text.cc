// Text of char is UTF-8 for the C library, too: by these functions, in the place of its own, std::filesystem reads
// paths. Its own know the code pages of Windows alone, and no locale that is UTF-8.
#include <algorithm>
#include <array>
#include <cstring>
#include <cwchar>

#include "lamina/platform/windows/system.h"

extern "C" {

// A character of two units of UTF-16 comes in two calls: the second unit waits in `state`, and has the last byte.
size_t mbrtowc(wchar_t* out, const char* in, size_t size, mbstate_t* state) {
  constexpr wchar_t kNoCharacter = 0xFFFD;
  constexpr auto kCutOff = static_cast<size_t>(-2);
  constexpr size_t kLongest_bytes = 4;
  static mbstate_t own{};
  mbstate_t& waiting = state == nullptr ? own : *state;
  const auto give = [out](wchar_t unit, size_t bytes) {
    if (out != nullptr) {
      *out = unit;
    }
    return bytes;
  };
  if (in == nullptr) {
    waiting = {};
    return 0;
  }
  if (size == 0) {
    return kCutOff;
  }
  if (waiting != 0) {
    const auto unit = static_cast<wchar_t>(waiting);
    waiting = {};
    return give(unit, 1);
  }
  if (static_cast<unsigned char>(*in) < 0x80) {
    return give(static_cast<wchar_t>(*in), *in == '\0' ? 0 : 1);
  }
  std::array<wchar_t, 2> units{};
  for (size_t bytes = 2; bytes <= std::min(size, kLongest_bytes); ++bytes) {
    const int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, in, static_cast<int>(bytes), units.data(), 2);
    if (count == 1) {
      return give(units[0], bytes);
    }
    if (count == 2 && units[0] >= 0xD800 && units[0] < 0xDC00) {
      waiting = static_cast<mbstate_t>(units[1]);
      return give(units[0], bytes - 1);
    }
  }
  return give(kNoCharacter, 1);
}

size_t mbrlen(const char* in, size_t size, mbstate_t* state) { return mbrtowc(nullptr, in, size, state); }

size_t mbsrtowcs(wchar_t* out, const char** in, size_t most, mbstate_t* state) {
  const char* at = *in;
  size_t count = 0;
  for (wchar_t unit = 0; out == nullptr || count < most; ++count) {
    const size_t bytes = mbrtowc(&unit, at, strnlen(at, 4) + 1, state);
    if (out != nullptr) {
      out[count] = unit;
    }
    if (bytes == 0) {
      at = nullptr;
      break;
    }
    at += bytes;
  }
  if (out != nullptr) {
    *in = at;
  }
  return count;
}

}  // extern "C"
