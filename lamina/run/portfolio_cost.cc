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
  const TableSize fold{all.rows - all.rows / turns.folds, all.columns, all.outputs};
  const int64_t after_another = (turns.models + turns.at_once - 1) / turns.at_once;
  const double seconds = static_cast<double>(after_another) * KernelSeconds(fold);
  if (seconds > entry.most_time * turns.limit_seconds) {
    return fmt::format("machines of {} rows would take some {} of {}", WithThousands(fold.rows), DurationText(seconds),
                       DurationText(turns.limit_seconds));
  }
  return "";
}

double RefitSeconds(const TableSize& all, const PortfolioEntry& entry, int64_t threads) {
  return entry.refit && SolvesSystems(entry) ? KernelSeconds(all) / static_cast<double>(threads) : 0;
}

}  // namespace lamina
