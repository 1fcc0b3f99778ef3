// The recipes of one network, by name.
#pragma once

#include <string_view>

namespace lamina {

inline constexpr std::string_view kPlainRecipe = "plain";
inline constexpr std::string_view kTabularRecipe = "tabular";

}  // namespace lamina
