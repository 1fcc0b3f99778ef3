// A time limit shared among the stages of a search.
#pragma once

#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "lamina/base/timing.h"

namespace lamina {

/// Every stage may begin trials until the time of the stages up to it is over; the whole ends with the limit. Its clock
/// starts when it is made.
class TimeBudget {
 public:
  TimeBudget() = default;  // no limit
  /// `work`: of each stage, in any unit; a stage has so much of the time.
  TimeBudget(std::optional<double> limit_seconds, std::span<const double> work) {
    if (limit_seconds) {
      limit_seconds_ = *limit_seconds;
      const double all = std::accumulate(work.begin(), work.end(), 0.0);
      double sum = 0;
      for (const double part : work) {
        sum += part;
        ends_seconds_.push_back(limit_seconds_ * sum / all);
      }
    }
  }

  /// Whether a trial of `stage` (from 1) may begin; the first of a stage until the whole time is over.
  bool MayBegin(int stage, bool first) const {
    return ends_seconds_.empty() ||
           watch_.Elapsed_seconds() < (first ? limit_seconds_ : ends_seconds_[static_cast<size_t>(stage - 1)]);
  }
  bool IsOver() const { return watch_.Elapsed_seconds() >= limit_seconds_; }

 private:
  Stopwatch watch_;
  double limit_seconds_ = std::numeric_limits<double>::infinity();
  std::vector<double> ends_seconds_;  // of the stages
};

}  // namespace lamina
