// Names on their way to people and programs. What each escaping function writes is taken apart again by the rules of
// its language; the result must be the name.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/report/html_report.h"
#include "lamina/report/plots.h"
#include "lamina/report/report_writer.h"
#include "lamina/run/command_line.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

constexpr char32_t kBroken = 0xFFFFFFFF;

std::string Encoded(char32_t code) {
  std::string bytes;
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> kLeads{0, 0xC0, 0xE0, 0xF0};
  bytes += static_cast<char>(kLeads[static_cast<size_t>(more)] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    bytes += static_cast<char>(0x80U | ((code >> (6 * i)) & 0x3FU));
  }
  return bytes;
}

// The characters of a text by decoding, encoding again and comparing; kBroken for a byte that begins none.
std::vector<char32_t> Characters(std::string_view text) {
  std::vector<char32_t> characters;
  while (!text.empty()) {
    char32_t found = kBroken;
    size_t size = 1;
    for (size_t bytes = 1; bytes <= 4 && bytes <= text.size() && found == kBroken; ++bytes) {
      constexpr std::array<unsigned, 5> kMasks{0, 0x7F, 0x1F, 0x0F, 0x07};
      char32_t code = static_cast<unsigned char>(text[0]) & kMasks[bytes];
      for (size_t i = 1; i < bytes; ++i) {
        code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
      }
      const bool exists = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
      if (exists && Encoded(code) == text.substr(0, bytes)) {
        found = code;
        size = bytes;
      }
    }
    characters.push_back(found);
    text.remove_prefix(size);
  }
  return characters;
}

// C0, DEL, C1, and what turns the direction or ends a line.
bool IsSteering(char32_t code) {
  const std::u32string_view others =
      U"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";
  return code < ' ' || (code >= 0x7F && code < 0xA0) || others.find(code) != std::u32string_view::npos;
}

// The name with a space for what steers and `broken` for bytes that are no text.
std::string Plain(std::string_view name, const std::string& broken) {
  std::string text;
  for (const char32_t code : Characters(name)) {
    text += code == kBroken ? broken : IsSteering(code) ? " " : Encoded(code);
  }
  return text;
}

std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

void CheckTerminal(std::string_view name) {
  const std::string shown = WithoutControls(name);
  for (const char32_t code : Characters(shown)) {
    Demand(code != kBroken && !IsSteering(code), "a terminal is steered");
  }
  Demand(WithoutControls(shown) == shown, "what is shown is shown differently");
}

void CheckHtml(std::string_view name) {
  std::string text = HtmlText(name);
  Demand(text.find_first_of("<>\"'") == std::string::npos, "markup");
  for (const auto& [entity, letter] : {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}}) {
    text = Replaced(std::move(text), entity, letter);
  }
  Demand(Replaced(std::move(text), "&amp;", "&") == Plain(name, "\xef\xbf\xbd"), "another text in HTML");
}

void CheckMarkdown(std::string_view name) {
  const std::string text = MarkdownText(name);
  std::string read;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\';
    Demand(!escaped || i + 1 < text.size(), "an escape of nothing");
    i += escaped ? 1 : 0;
    Demand(escaped || std::string_view("|<`*[&").find(text[i]) == std::string_view::npos, "markup in Markdown");
    read += text[i];
  }
  Demand(read == Plain(name, "\xef\xbf\xbd"), "another text in Markdown");
}

void CheckGnuplot(std::string_view name) {
  const std::string whole = GnuplotText(name, name.size() + 1);
  Demand(whole.size() >= 2 && whole.front() == '\'' && whole.back() == '\'', "no string of gnuplot");
  std::string read;
  for (size_t i = 1; i + 1 < whole.size(); ++i) {
    Demand(whole[i] != '\'' || (i + 2 < whole.size() && whole[i + 1] == '\''), "a string that ends early");
    i += whole[i] == '\'' ? 1 : 0;
    read += whole[i];
  }
  const std::string wanted = Replaced(Replaced(Plain(name, "?"), Encoded(0xFFFE), "?"), Encoded(0xFFFF), "?");
  Demand(read == wanted, "another text in gnuplot");
  const std::string tick = GnuplotTick(name, name.size() + 1);
  Demand(std::count(tick.begin(), tick.end(), '%') == 2 * std::count(whole.begin(), whole.end(), '%') &&
             Replaced(tick, "%%", "%") == whole,
         "a tick that is a format");
}

void CheckCsv(std::string_view name) {
  std::string text = CsvField(name);
  if (text.starts_with('"') && text != name) {
    Demand(text.size() >= 2 && text.ends_with('"'), "quotes that are not closed");
    text = text.substr(1, text.size() - 2);
    const std::string without = Replaced(text, "\"\"", "");
    Demand(without.find('"') == std::string::npos, "a quote within quotes");
    text = Replaced(std::move(text), "\"\"", "\"");
  } else {
    Demand(text.find_first_of(",\"\r\n") == std::string::npos, "a field that is two");
  }
  Demand(text == name, "another text in CSV");
}

// As bash reads it; a file's name has no zero byte.
void CheckShell(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) {
    return;
  }
  const std::string word = ShellWord(name);
  for (const char32_t code : Characters(word)) {
    Demand(code != kBroken && !IsSteering(code), "a command that cannot be copied");
  }
  std::string read;
  if (word.starts_with("$'")) {
    for (size_t i = 2; i + 1 < word.size(); ++i) {
      const bool escaped = word[i] == '\\';
      Demand(word[i] != '\'', "a word that ends early");
      i += escaped ? 1 : 0;
      const bool byte = escaped && word[i] == 'x';
      read += byte ? static_cast<char>(std::stoi(word.substr(i + 1, 2), nullptr, 16)) : word[i];
      i += byte ? 2 : 0;
    }
  } else if (word.starts_with('\'')) {
    read = Replaced(word.substr(1, word.size() - 2), "'\\''", "'");
    Demand(std::count(word.begin(), word.end(), '\'') == 2 + 3 * std::count(read.begin(), read.end(), '\''),
           "a word that ends early");
  } else {
    Demand(word.find_first_of(" \t\n'\"\\$`|&;<>()*?[]#~!{}") == std::string::npos, "a word that is more");
    read = word;
  }
  Demand(read == name, "another word");
}

void FuzzNames(std::string_view input) {
  for (const auto check : {CheckTerminal, CheckHtml, CheckMarkdown, CheckGnuplot, CheckCsv, CheckShell}) {
    check(input);
  }
}

const RegisteredTargets name_targets{{"names", &FuzzNames}};

}  // namespace
}  // namespace lamina::fuzz
