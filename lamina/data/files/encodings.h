// Text that is not UTF-8: what it probably is, and its conversion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lamina {

/// Where the first byte stands that is no UTF-8 text, std::string_view::npos for none.
size_t FindNotUtf8(std::string_view text);

/// "UTF-16LE" or "UTF-16BE" by the mark at the start, "UTF-8" for such text, else "Windows-1252": what Excel writes in
/// Western Europe and America.
std::string GuessEncoding(std::string_view text);

/// `text` as UTF-8 without a byte order mark. `encoding`: any name that the C library knows, capital letters do not
/// matter. What is no character there becomes U+FFFD. Throws Error(kInvalidArgument) for an unknown name.
std::string ConvertToUtf8(std::string_view text, const std::string& encoding);

/// Text of which some cells are UTF-8 and others are not.
struct MixedText {
  std::string text;        // UTF-8
  int64_t utf8_line = 0;   // of the first cell that is UTF-8 and not ASCII alone, counted from 1; 0: there is none
  int64_t other_line = 0;  // of the first one that is not UTF-8
};

/// Cells end at a comma, semicolon, tab, bar, quote or line end. Those that are UTF-8 stay; others are read as
/// Windows-1252.
MixedText CellsToUtf8(std::string_view text);

}  // namespace lamina
