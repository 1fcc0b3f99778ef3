// Recipe mixed: the network of recipe tabular, and a kernel machine whose answers count as much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lamina/settings/settings.h"

namespace lamina {

inline constexpr std::string_view kMixedRecipe = "mixed";

/// Up to so many training rows method "auto" is rfm alone, which answers better there (docs/decisions/0054).
inline constexpr int64_t kMostRowsOfKernels = 1000;
/// Tables of more rows and up to so many have both by default (docs/decisions/0087).
inline constexpr int64_t kMostRowsOfMixed = 10'000;
/// The same up to so many rows² times encoded columns, some half a minute of one thread (docs/decisions/0119).
inline constexpr int64_t kMostWorkOfMixed = 100'000'000'000;

/// Up to so many rows their networks, and the models of --effort best, have an input for each category of two rows and
/// more (docs/decisions/0136).
inline constexpr int64_t kMostRowsOfPairs = 4000;

/// With such inputs, where the rows are that few and --min-count says nothing else.
inline void TellPairsApart(int64_t rows, TrainSettings& settings) {
  if (rows <= kMostRowsOfPairs && !settings.min_count) {
    settings.min_count = 2;
  }
}

/// Whether a kernel machine answers beside the network.
inline bool HasKernelsBeside(const TrainSettings& settings) { return settings.recipe == kMixedRecipe; }

/// --trees: where rows left out can tell how much they count, and no long time is needed. --line: where rows left out
/// say that it helps, first or beside others.
inline constexpr std::string_view kPossibleText = "possible";
/// --line: never beside others.
inline constexpr std::string_view kFirstText = "first";

/// Whether a kernel machine or trees may answer beside the network: all rows must be in memory.
inline bool HasOthersBeside(const TrainSettings& settings) {
  return HasKernelsBeside(settings) || settings.trees == kYesText || settings.trees == kPossibleText;
}

/// The network's epochs by its training rows, all of which are done (docs/decisions/0097).
inline int64_t EpochsBesideKernels(int64_t rows) {
  constexpr int64_t kRowsOfAllEpochs = 72'000;
  return std::clamp<int64_t>(kRowsOfAllEpochs / std::max<int64_t>(1, rows), 24, 48);
}

}  // namespace lamina
