// The code pages of Windows, by the names that iconv has for them.
#include "lamina/platform/encoding.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

constexpr UINT kUtf16Little = 1200, kUtf16Big = 1201;

// In lower case, without '-' and '_'.
constexpr std::pair<std::string_view, UINT> kNamed[] = {
    {"utf8", CP_UTF8},      {"utf16", kUtf16Little}, {"utf16le", kUtf16Little},
    {"utf16be", kUtf16Big}, {"ascii", 20127},        {"usascii", 20127},
    {"latin1", 28591},      {"latin2", 28592},       {"latin9", 28605},
    {"koi8r", 20866},       {"koi8u", 21866},        {"shiftjis", 932},
    {"sjis", 932},          {"eucjp", 20932},        {"gbk", 936},
    {"gb2312", 936},        {"gb18030", 54936},      {"big5", 950},
    {"euckr", 51949},       {"macintosh", 10000},    {"iso2022jp", 50222}};
// What stands before a number.
constexpr std::pair<std::string_view, UINT> kNumbered[] = {{"windows", 0}, {"cp", 0}, {"ibm", 0}, {"iso8859", 28590}};

UINT CodePageOf(const std::string& encoding) {
  std::string name;
  for (const char c : encoding) {
    if (c != '-' && c != '_') {
      name += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    }
  }
  for (const auto& [known, page] : kNamed) {
    if (name == known) {
      return page;
    }
  }
  for (const auto& [prefix, first] : kNumbered) {
    UINT number = 0;
    const char* const end = name.data() + name.size();
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        std::from_chars(name.data() + prefix.size(), end, number).ptr == end && IsValidCodePage(first + number) != 0) {
      return first + number;
    }
  }
  return 0;
}

std::string FromUtf16(std::string_view text, bool big) {
  std::wstring wide;
  wide.reserve(text.size() / 2 + 1);
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const auto low = static_cast<unsigned char>(text[i + (big ? 1 : 0)]);
    const auto high = static_cast<unsigned char>(text[i + (big ? 0 : 1)]);
    wide += static_cast<wchar_t>(high << 8 | low);
  }
  if (text.size() % 2 != 0) {
    wide += L'\xFFFD';
  }
  return windows::Narrow(wide);
}

}  // namespace

std::optional<std::string> ToUtf8(std::string_view text, const std::string& encoding) {
  UINT page = CodePageOf(encoding);
  if (page == kUtf16Little && text.starts_with("\xFE\xFF")) {
    page = kUtf16Big;
  }
  if (page == 0) {
    return std::nullopt;
  }
  if (page == kUtf16Little || page == kUtf16Big) {
    return FromUtf16(text, page == kUtf16Big);
  }
  constexpr size_t kMost_bytes = 1 << 30;  // lengths are int
  std::string out;
  while (!text.empty()) {
    size_t size = std::min(text.size(), kMost_bytes);
    if (size < text.size()) {  // a piece of whole lines
      size = std::max<size_t>(text.substr(0, size).rfind('\n') + 1, 1);
    }
    out += windows::Narrow(windows::Wide(text.substr(0, size), page));
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace lamina::platform
