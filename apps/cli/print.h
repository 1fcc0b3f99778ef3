// All that the program says to people goes through here. A name from a file reaches the terminal as shown text, never
// as characters that steer it.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "colour.h"
#include "lamina/base/text.h"

namespace lamina::cli {

/// An argument of Print as it is shown: numbers and the program's own text as they are, of all else WithoutControls().
template <class T>
auto Shown(const T& value) {
  if constexpr (std::is_same_v<T, OwnText> || (std::is_arithmetic_v<T> && !std::is_same_v<T, char>)) {
    return value;
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return WithoutControls(value);
  } else {  // fmt::join, which is formatted as a temporary alone
    return WithoutControls(fmt::format("{}", T(value)));
  }
}

template <class... Args>
using ShownFormat = fmt::format_string<decltype(Shown(std::declval<const Args&>()))...>;

/// To standard output; the format is the program's own, its arguments need not be. Throws std::system_error where
/// nothing can be written.
template <class... Args>
void Print(ShownFormat<Args...> format, const Args&... args) {
  fmt::print(format, Shown(args)...);
}

/// Lines of a text, their ends kept.
OwnText Lines(std::string_view text);

/// A name as a cell of a table: one line, cut after 60 bytes.
std::string Cell(std::string_view name);

/// What programs read (JSON, CSV, TOML), to standard output: as it is, but to a terminal Lines().
void PrintData(const std::string& text);

/// Prints the program's own text to standard output, at once. A failed write does not end the work, as a terminal may
/// vanish just before its signal comes. CheckOutput() of main.cc finds it at the end.
void PrintProgress(const std::string& text);

/// "lamina: error: ..." and "lamina: warning: ..." with a tone. Nothing is thrown where standard error is closed or
/// full: whoever reads the message is gone, and the exit code says it, too.
void WriteToStderr(const std::string& text);

template <class... Args>
void PrintToStderr(ShownFormat<Args...> format, const Args&... args) {
  WriteToStderr(fmt::format(format, Shown(args)...));
}

/// "note: ..." with its tone.
template <class... Args>
void PrintNote(std::FILE* to, ShownFormat<Args...> format, const Args&... args) {
  fmt::print(to, "{} {}", Toned(Tone::kNote, "note:", to), fmt::format(format, Shown(args)...));
}

}  // namespace lamina::cli
