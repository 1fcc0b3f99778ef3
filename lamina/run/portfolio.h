// The models that --effort best trains, in their order: every beginning of the list is a good one by itself.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "lamina/base/nan.h"
#include "lamina/settings/settings.h"

namespace lamina {

struct PortfolioEntry {
  std::string_view name;      // as it is shown
  std::string_view settings;  // of lamina train: "hidden=64,64 dropout=0.1"; what it does not name is the recipe's
  /// Trained once more on all rows where it is chosen. Such methods leave rows out themselves to tell their end, and
  /// one network answers sooner than those of all folds.
  bool refit = false;
  /// The share of the time that a kernel machine's folds may take, by WhyNotFor() (portfolio_cost.h).
  double most_time = 0;
  int64_t least_rows = 0;  // training rows from which on it is worth its time
  /// Added to the seed of what learns all rows, so that trees that are much alike see other columns.
  uint64_t seeds_apart = 0;
};

/// All of them take the same encoding of the rows, that of recipe tabular. Chosen and put in order on training parts of
/// public tables (docs/decisions/0066).
std::span<const PortfolioEntry> Portfolio();

/// `settings` with what the entry says. Throws Error(kInvalidArgument) for a text that is no setting's.
TrainSettings WithEntry(const TrainSettings& settings, const PortfolioEntry& entry);

/// How often rows are cut into folds: one cut of few rows says little.
int64_t RepeatsFor(const TrainSettings& settings, int64_t rows);

/// WithEntry() for the model of one fold on one thread. `place`: among the folds of all cuts.
TrainSettings AtPlace(const TrainSettings& settings, const PortfolioEntry& entry, int64_t place);

/// WithEntry() for one model of all rows.
TrainSettings OnAllRows(const TrainSettings& settings, const PortfolioEntry& entry);

/// What became of a model of the portfolio.
struct PortfolioPart {
  std::string name;
  std::string settings;       // as in Portfolio()
  double loss = kNaN;         // of its answers to rows left out: log loss of classes, mean square of scaled numbers
  double mixed = kNaN;        // the same of the best mix of it and those before
  double share = 0;           // of the answer; all together 1
  double temperature = kNaN;  // of the probabilities of classes
  double seconds = 0;         // of its folds, together
  std::string left_out;       // why it has no answers; empty: it has
};
nlohmann::json ToJson(std::span<const PortfolioPart> parts);

}  // namespace lamina
