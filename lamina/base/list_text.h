// Lists of names in one text, and texts as words of a shell: how flags have them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// The items of "a, b": without blanks at their ends. One with commas stands in quotes, as in a CSV file: "a, b".
std::vector<std::string> SplitList(std::string_view text);

/// What SplitList() splits.
std::string ListText(std::span<const std::string> items);

/// `text` as one word of a POSIX shell.
std::string ShellWord(std::string_view text);

}  // namespace lamina
