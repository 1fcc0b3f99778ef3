// The best trial of a search beside the default: whether the search found anything.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "lamina/model/compare_models.h"
#include "lamina/search/search.h"

namespace lamina {

struct DefaultCheck {
  int64_t best = 1;   // the number of the best trial; 1: it is the default
  int64_t folds = 0;  // 0: not compared on folds
  /// All rows, each answered by networks that have not seen it: first the default, second the best.
  std::optional<Comparison> comparison;

  /// How often chance makes such a difference of the first metric: McNemar's exact test for accuracy, else resampled
  /// rows.
  double p_value() const;
  /// Whether the best answers better, and chance alone seldom (5 %) makes such a difference.
  bool better() const;
  /// One sentence for people.
  std::string Text() const;
};

/// Trains both on the folds of FoldsOfCheck(), where the best is another one. None where it was interrupted, or no
/// trial came to a result. Throws Error.
std::optional<DefaultCheck> CheckAgainstDefault(Search& search, const SearchResult& result,
                                                const std::function<bool()>& stop_requested);

nlohmann::json ToJson(const DefaultCheck& check);

}  // namespace lamina
