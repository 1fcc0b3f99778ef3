// One walk over the text. Where it is no TOML, what follows does not matter: the parser stops there.
#include "toml_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lamina::cli {
namespace {

bool IsControl(unsigned char c) { return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7F; }

// The end of the string or comment that begins at `at`: behind its last quote, or at the line end that it must not
// have.
size_t EndOf(std::string_view text, size_t at) {
  const char mark = text[at];
  if (mark == '#') {
    return std::min(text.find('\n', at), text.size());
  }
  const std::string three(3, mark);
  const bool long_one = text.substr(at).starts_with(three);
  size_t i = at + (long_one ? 3 : 1);
  for (; i < text.size(); ++i) {
    if (text[i] == '\\' && mark == '"') {
      ++i;
    } else if (!long_one && (text[i] == mark || text[i] == '\n')) {
      return i + 1;
    } else if (long_one && text.substr(i).starts_with(three)) {
      for (i += 3; i < text.size() && text[i] == mark; ++i) {  // quotes before the last three belong to it
      }
      return i;
    }
  }
  return text.size();
}

}  // namespace

std::optional<TomlProblem> FindTomlProblem(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsControl(static_cast<unsigned char>(text[i]))) {
      return TomlProblem{i, fmt::format("a control character, byte 0x{:02x}", static_cast<unsigned char>(text[i]))};
    }
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  for (size_t i = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; i < text.size();) {
    if (text[i] == '"' || text[i] == '\'' || text[i] == '#') {
      i = EndOf(text, i);
    } else if (static_cast<unsigned char>(text[i]) >= 0x80) {
      return TomlProblem{i, "a character beyond ASCII outside of quotes"};
    } else {
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace lamina::cli
