// Recipe mixed: the network of recipe tabular, and a kernel machine whose answers count as much.
#pragma once

#include <cstdint>
#include <string_view>

#include "lamina/settings/settings.h"

namespace lamina {

inline constexpr std::string_view kMixedRecipe = "mixed";

/// Tables of more rows than kMostRowsOfKernels and up to so many have it by default (docs/decisions/0087).
inline constexpr int64_t kMostRowsOfMixed = 10'000;

/// Whether a kernel machine answers beside the network.
inline bool HasKernelsBeside(const TrainSettings& settings) { return settings.recipe == kMixedRecipe; }

}  // namespace lamina
