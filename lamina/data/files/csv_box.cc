// Lines keep their places and numbers: what goes becomes blank.
#include "lamina/data/files/csv_box.h"

#include <algorithm>
#include <string_view>

#include "lamina/data/files/csv_cursor.h"

namespace lamina {
namespace {

bool IsBorder(std::string_view line) {
  constexpr size_t kLeast = 3;
  return line.size() >= kLeast && (line.front() == '+' || line.front() == '|') && line.back() == line.front() &&
         line.find_first_not_of("+-=|: ") == std::string_view::npos && line.find('-') != std::string_view::npos;
}

bool IsRow(std::string_view line) { return line.size() > 1 && line.front() == '|' && line.back() == '|'; }

// The next line of `text` that is not blank, without blanks at its ends; `text` begins behind it.
std::string_view NextLine(std::string_view& text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = TrimField(text.substr(0, end - 1));
    text.remove_prefix(end);
    if (!line.empty()) {
      return line;
    }
  }
  return {};
}

}  // namespace

bool IsBox(std::string_view text) {
  const std::string_view first = NextLine(text);
  const std::string_view second = NextLine(text);
  const bool border = IsBorder(first);
  const std::string_view names = border ? second : first;
  return IsRow(names) && std::count(names.begin(), names.end(), '|') > 2 && (border || IsBorder(second));
}

void BlankBox(std::span<char> text) {
  const std::string_view content(text.data(), text.size());
  std::string_view rest = content;
  for (std::string_view line = NextLine(rest); !line.empty(); line = NextLine(rest)) {
    const auto begin = text.begin() + (line.data() - content.data());
    const auto end = begin + static_cast<ptrdiff_t>(line.size());
    if (IsBorder(line)) {
      std::fill(begin, end, ' ');
    } else if (IsRow(line)) {
      *begin = ' ';
      *(end - 1) = ' ';
    }
  }
}

}  // namespace lamina
