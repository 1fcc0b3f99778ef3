// Items are fields of a CSV line.
#include "lamina/base/list_text.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "lamina/base/text.h"

namespace lamina {

namespace {

// Takes a field in quotes, and blanks behind it, off the start of `text`; none where no such field ends before a comma.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  if (!text.starts_with('"')) {
    return std::nullopt;
  }
  std::string field;
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] != '"') {
      field += text[at];
    } else if (text.substr(at + 1).starts_with('"')) {
      field += text[++at];
    } else {
      const std::string_view behind = Trim(text.substr(at + 1));
      if (!behind.empty() && behind[0] != ',') {
        return std::nullopt;
      }
      text = behind;
      return field;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items;
  for (bool more = true; more;) {
    text = Trim(text);
    if (std::optional<std::string> quoted = TakeQuoted(text)) {
      items.push_back(std::move(*quoted));
    } else {
      items.emplace_back(Trim(text.substr(0, text.find(','))));
    }
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return items;
}

std::string ListText(std::span<const std::string> items) {
  std::string text;
  for (const std::string& item : items) {
    text += (&item == items.data() ? "" : ",") + CsvField(item);
  }
  return text;
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  if (WithoutControls(text) != text) {  // as bash and POSIX 2024 read it, so that it can be copied
    std::string word = "$'";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      word += c == '\\' || c == '\''       ? std::string("\\") + c
              : byte >= ' ' && byte < 0x7F ? std::string(1, c)
                                           : fmt::format("\\x{:02x}", byte);
    }
    return word + '\'';
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + '\'';
}

}  // namespace lamina
