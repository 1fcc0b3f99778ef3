// Messages to standard error, and notes.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "colour.h"

namespace lamina::cli {

/// "lamina: error: ..." and "lamina: warning: ..." with a tone. Nothing is thrown where standard error is closed or
/// full: whoever reads the message is gone, and the exit code says it, too.
void WriteToStderr(const std::string& text);

template <class... Args>
void PrintToStderr(fmt::format_string<Args...> format, Args&&... args) {
  WriteToStderr(fmt::format(format, std::forward<Args>(args)...));
}

/// "note: ..." with its tone.
template <class... Args>
void PrintNote(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(to, "{} {}", Toned(Tone::kNote, "note:", to), fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lamina::cli
