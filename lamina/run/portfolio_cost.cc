// Kernel machines alone are asked about: the others' time grows with the rows, and ends where it is over.
#include "lamina/run/portfolio_cost.h"

#include <fmt/format.h>

#include "lamina/base/text.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/settings/method.h"

namespace lamina {
namespace {

bool SolvesSystems(const PortfolioEntry& entry) {
  return MethodFrom(WithEntry(TrainSettings(), entry)) == Method::kKernelMachine;
}

// The rows that a fold's model is of.
TableSize FoldOf(const TableSize& all, const PortfolioTurns& turns) {
  return {all.rows - all.rows / turns.folds, all.columns, all.outputs};
}

}  // namespace

std::string WhyNotFor(const TableSize& all, const PortfolioEntry& entry, const PortfolioTurns& turns) {
  if (all.rows < entry.least_rows) {
    return fmt::format("it is for {} rows and more", WithThousands(entry.least_rows));
  }
  if (!SolvesSystems(entry)) {
    return "";
  }
  if (all.rows > KernelNetworkOptions::kMostRows) {
    return fmt::format("one machine has at most {} rows", WithThousands(KernelNetworkOptions::kMostRows));
  }
  if (!KernelMachinesFit(all, turns.at_once)) {
    return fmt::format("{} of {} rows need more than the memory", Counted(turns.at_once, "machine{s}"),
                       WithThousands(all.rows));
  }
  const double seconds = CostOf(all, entry, turns).folds_seconds;
  if (seconds > entry.most_time * turns.limit_seconds) {
    return fmt::format("machines of {} rows would take some {} of {}", WithThousands(FoldOf(all, turns).rows),
                       DurationText(seconds), DurationText(turns.limit_seconds));
  }
  return "";
}

PortfolioCost CostOf(const TableSize& all, const PortfolioEntry& entry, const PortfolioTurns& turns) {
  if (!SolvesSystems(entry)) {
    return {};
  }
  const int64_t after_another = (turns.models + turns.at_once - 1) / turns.at_once;
  return {static_cast<double>(after_another) * KernelSeconds(FoldOf(all, turns)),
          entry.refit ? KernelSeconds(all) / static_cast<double>(turns.at_once) : 0};
}

double RefitSeconds(const PortfolioEntry& entry, const PortfolioCost& cost, double seconds_of_folds) {
  constexpr double kOfFolds = 0.5;  // boosted trees: once with a fifth left out, once with all rows
  return entry.refit && cost.refit_seconds == 0 ? kOfFolds * seconds_of_folds : cost.refit_seconds;
}

}  // namespace lamina
