// Colours of the terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace lamina::cli {

enum class Tone { kError, kWarning, kNote, kHeading };

/// `text` in the colour of its tone where `stream` is a terminal that has colours and NO_COLOR is empty or not set
/// (no-color.org); else as it is.
std::string Toned(Tone tone, std::string_view text, std::FILE* stream);

}  // namespace lamina::cli
