// Messages to standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace lamina::cli {

/// As fmt::print(stderr, ...), but nothing is thrown where standard error is closed or full: whoever reads the message
/// is gone, and the exit code says it, too.
template <class... Args>
void PrintToStderr(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace lamina::cli
