// Intervals around the answers of a regression that hold a share of the true values. This is split conformal prediction
// (Lei et al., 2018) by the errors on rows that the model has not learned from.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "lamina/model/model.h"
#include "lamina/model/scored_rows.h"

namespace lamina {

/// The distance that a new row stays within with probability `level` at least, where it is drawn as these were: the
/// ceil((n + 1) level)-th smallest. Throws Error(kInvalidArgument) where that is more than there are.
double ConformalHalfWidth(std::vector<double> distances, double level);
/// The fewest rows that ConformalHalfWidth() takes.
int64_t LeastRowsFor(double level);

/// One half width a target.
AnswerIntervals IntervalsOf(std::span<const ScoredRows> targets, double level);
/// The share of the true values that lie inside, one a target.
std::vector<double> CoverageOf(const AnswerIntervals& intervals, std::span<const ScoredRows> targets);

}  // namespace lamina
