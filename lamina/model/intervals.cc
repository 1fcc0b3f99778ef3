// Conformal prediction intervals.
#include "lamina/model/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/error.h"

namespace lamina {
namespace {

constexpr double kRounding = 1e-9;  // 0.9 × 10 is 9, whatever the bits say

int64_t RankOf(int64_t rows, double level) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(rows + 1) * level - kRounding));
}

}  // namespace

int64_t LeastRowsFor(double level) { return static_cast<int64_t>(std::ceil(level / (1 - level) - kRounding)); }

double ConformalHalfWidth(std::vector<double> distances, double level) {
  const int64_t rank = std::max<int64_t>(1, RankOf(std::ssize(distances), level));
  if (rank > std::ssize(distances)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--intervals {:g} takes at least {} rows that the model has not learned from, and there are {}",
                    level, LeastRowsFor(level), distances.size()),
        {.remedy = "Let more rows validate (--split), use --folds, or ask for a smaller share.",
         .setting = "intervals"});
  }
  const auto nth = distances.begin() + (rank - 1);
  std::nth_element(distances.begin(), nth, distances.end());
  return *nth;
}

AnswerIntervals IntervalsOf(std::span<const ScoredRows> targets, double level) {
  AnswerIntervals intervals;
  intervals.level = level;
  for (const ScoredRows& rows : targets) {
    std::vector<double> distances;
    for (size_t i = 0; i < rows.truth.size(); ++i) {
      distances.push_back(std::abs(rows.truth[i] - rows.answers[i]));
    }
    intervals.rows = rows.size();
    intervals.half_widths.push_back(ConformalHalfWidth(std::move(distances), level));
  }
  return intervals;
}

std::vector<double> CoverageOf(const AnswerIntervals& intervals, std::span<const ScoredRows> targets) {
  std::vector<double> shares;
  for (size_t j = 0; j < targets.size(); ++j) {
    int64_t inside = 0;
    for (size_t i = 0; i < targets[j].truth.size(); ++i) {
      inside += std::abs(targets[j].truth[i] - targets[j].answers[i]) <= intervals.half_widths[j] ? 1 : 0;
    }
    shares.push_back(static_cast<double>(inside) / static_cast<double>(targets[j].size()));
  }
  return shares;
}

}  // namespace lamina
