// Colors of the terminal.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace lamina::cli {

enum class Tone { kError, kWarning, kNote, kHeading };

/// Text that may steer the terminal, because no name from a file is in it: colors, ends of lines, the moves of a bar.
struct OwnText {
  std::string text;
};

/// `text` in the color of its tone, where `stream` is a terminal with colors and NO_COLOR is empty or not set
/// (no-color.org). Otherwise `text` as it is.
OwnText Toned(Tone tone, std::string_view text, std::FILE* stream);

}  // namespace lamina::cli

template <>
struct fmt::formatter<lamina::cli::OwnText> : fmt::formatter<std::string_view> {
  auto format(const lamina::cli::OwnText& own, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(own.text, context);
  }
};
