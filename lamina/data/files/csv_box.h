// Tables drawn with strokes and bars, as data bases and Markdown have them. Private to the CSV reader.
#pragma once

#include <span>
#include <string_view>

namespace lamina {

/// Whether the first line that is not blank is a border ("+---+---+") or stands above one ("| a | b |", "|---|---|"),
/// and more than one column is drawn.
bool IsBox(std::string_view text);

/// Makes borders and the bars at both ends of rows blank: '|' separates fields then.
void BlankBox(std::span<char> text);

}  // namespace lamina
