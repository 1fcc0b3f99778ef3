// What an entry of the portfolio costs that solves systems of all rows, known before it begins.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/rbf/kernel_cost.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// How the folds of a model are trained.
struct PortfolioTurns {
  int64_t folds = 1;    // of a cut of the rows, each a model without them
  int64_t models = 1;   // of all cuts
  int64_t at_once = 1;  // on a thread each
  double limit_seconds = 0;
};

/// Why a model of `all` rows, or those of the folds, would take too much time or memory; empty: they do not.
/// `settings`: WithEntry().
std::string WhyTooLarge(const TrainSettings& settings, const TableSize& all, const PortfolioTurns& turns);

/// What one machine of all rows takes `threads` threads; 0 for other methods.
double RefitSeconds(const TrainSettings& settings, const TableSize& all, int64_t threads);

}  // namespace lamina
