// --effort best: every model of the portfolio on the same folds, and which of them answer together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lamina/run/portfolio.h"
#include "lamina/run/run_plan.h"
#include "lamina/run/session.h"

namespace lamina {

struct PortfolioCallbacks {
  /// On any thread, one call at a time: `part` is number `number` of `count`.
  std::function<void(const PortfolioPart& part, int64_t number, int64_t count, double seconds_left)> part_done;
  /// Asked on the calling thread alone. What has come to its end so far is kept.
  std::function<bool()> stop_requested;
};

struct PortfolioResult {
  bool interrupted = false;     // before the first part was whole: there is nothing else here
  bool stopped = false;         // by stop_requested
  Model model;                  // of the first part: encoding and loss
  std::vector<Dataset> tests;   // the rows that each fold tests, without their inputs
  std::vector<Matrix> answers;  // of the mix to them: NetworkOutputs() of models that have not seen them
  std::string twins;            // what was found about rows with the same inputs; empty: nothing
  std::vector<PortfolioPart> parts;
  int64_t repeats = 1;  // of the folds
  std::vector<Network> networks;
  std::vector<double> shares;  // one a network, together 1
};

/// What the models are trained on; all outlive the call.
struct PortfolioData {
  /// Folds, a bag without a validation share, and nothing of network, method or training.
  const TrainSettings& settings;
  const RawData& raw;
  const Preprocessor& encoding;  // of all rows
  const std::vector<Activation>& custom;
};

/// `entries`: a network first. Takes settings.threads jobs side by side, each on one thread; what comes out does not
/// depend on how many, but for what `limit_seconds` leaves out. Throws Error.
PortfolioResult TrainPortfolio(std::span<const PortfolioEntry> entries, const PortfolioData& data, double limit_seconds,
                               const PortfolioCallbacks& callbacks);

}  // namespace lamina
