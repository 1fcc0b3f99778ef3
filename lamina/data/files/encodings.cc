// Windows-1252 by its own table, which is always there; all others by the system.
#include "lamina/data/files/encodings.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/utf8.h"
#include "lamina/platform/encoding.h"

namespace lamina {
namespace {

constexpr uint16_t kNoCharacter = 0xFFFD;
// What the bytes 0x80 to 0x9F are; all others are what they are in Unicode.
constexpr std::array<uint16_t, 32> kWindows1252{
    0x20AC,       kNoCharacter, 0x201A, 0x0192, 0x201E, 0x2026,       0x2020, 0x2021,
    0x02C6,       0x2030,       0x0160, 0x2039, 0x0152, kNoCharacter, 0x017D, kNoCharacter,
    kNoCharacter, 0x2018,       0x2019, 0x201C, 0x201D, 0x2022,       0x2013, 0x2014,
    0x02DC,       0x2122,       0x0161, 0x203A, 0x0153, kNoCharacter, 0x017E, 0x0178};

void AppendCharacter(unsigned character, std::string& out) {
  if (character < 0x80) {
    out += static_cast<char>(character);
  } else if (character < 0x800) {
    out += static_cast<char>(0xC0 | (character >> 6));
    out += static_cast<char>(0x80 | (character & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | (character >> 12));
    out += static_cast<char>(0x80 | ((character >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (character & 0x3F));
  }
}

std::string FromWindows1252(std::string_view text) {
  constexpr unsigned kFirst = 0x80;
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool special = byte >= kFirst && byte < kFirst + kWindows1252.size();
    AppendCharacter(special ? kWindows1252[byte - kFirst] : byte, out);
  }
  return out;
}

bool SameName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

size_t FindNotUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::string_view::npos;
}

std::string GuessEncoding(std::string_view text) {
  if (text.starts_with("\xFF\xFE")) {
    return "UTF-16LE";
  }
  if (text.starts_with("\xFE\xFF")) {
    return "UTF-16BE";
  }
  return FindNotUtf8(text) == std::string_view::npos ? "UTF-8" : "Windows-1252";
}

MixedText CellsToUtf8(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  MixedText mixed;
  mixed.text.reserve(text.size() + text.size() / 8);
  int64_t line = 1;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(",;\t|\"\n", at), text.size() - 1) + 1;
    const std::string_view cell = text.substr(at, end - at);
    if (std::all_of(cell.begin(), cell.end(), is_ascii)) {
      mixed.text += cell;
    } else if (FindNotUtf8(cell) == std::string_view::npos) {
      mixed.text += cell;
      mixed.utf8_line = mixed.utf8_line == 0 ? line : mixed.utf8_line;
    } else {
      mixed.text += FromWindows1252(cell);
      mixed.other_line = mixed.other_line == 0 ? line : mixed.other_line;
    }
    line += cell.back() == '\n' ? 1 : 0;
    at = end;
  }
  return mixed;
}

std::string ConvertToUtf8(std::string_view text, const std::string& encoding) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  const bool western = SameName(encoding, "windows-1252") || SameName(encoding, "cp1252");
  std::optional<std::string> converted = western ? FromWindows1252(text) : platform::ToUtf8(text, encoding);
  if (!converted) {
    throw Error(ErrorCode::kInvalidArgument, "unknown encoding",
                {.value = encoding,
                 .remedy = "Names are, for instance: utf-8, windows-1252, windows-1250, iso-8859-15, utf-16.",
                 .setting = "encoding"});
  }
  if (converted->starts_with(kMark)) {
    converted->erase(0, kMark.size());
  }
  return *std::move(converted);
}

}  // namespace lamina
