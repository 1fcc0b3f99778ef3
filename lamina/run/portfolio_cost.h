// Which entries of the portfolio are for a table, and what those cost that solve systems of all rows.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/rbf/kernel_cost.h"
#include "lamina/run/portfolio.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// How the folds of a model are trained.
struct PortfolioTurns {
  int64_t folds = 1;    // of a cut of the rows, each a model without them
  int64_t models = 1;   // of all cuts
  int64_t at_once = 1;  // on a thread each
  double limit_seconds = 0;
};

/// Why an entry is not for a table of `all` rows; empty: it is. Its models would take too much time or memory, or
/// others are better.
std::string WhyNotFor(const TableSize& all, const PortfolioEntry& entry, const PortfolioTurns& turns);

/// About how long the models of all folds take, and one of all rows on all threads; 0 for other methods.
struct PortfolioCost {
  double folds_seconds = 0;
  double refit_seconds = 0;
};
PortfolioCost CostOf(const TableSize& all, const PortfolioEntry& entry, const PortfolioTurns& turns);

/// How long a model of all rows on all threads will take, about, whose folds have taken so long.
double RefitSeconds(const PortfolioEntry& entry, const PortfolioCost& cost, double seconds_of_folds);

}  // namespace lamina
