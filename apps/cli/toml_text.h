// What TOML allows of a text's bytes, checked before the parser sees them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lamina::cli {

struct TomlProblem {
  size_t at = 0;  // byte
  std::string what;
};

/// The first byte that no TOML file has there: a control character (tab and line end aside), or one beyond ASCII
/// outside strings and comments.
std::optional<TomlProblem> FindTomlProblem(std::string_view text);

}  // namespace lamina::cli
