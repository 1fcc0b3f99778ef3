// Searches the fastest plan of a problem by measuring.
#pragma once

#include <functional>
#include <vector>

#include "lamina/backend/backend.h"

namespace lamina {

enum class TuneLevel {
  kEstimate,    // nothing is measured: the backend's estimate
  kMeasure,     // the most promising candidates
  kExhaustive,  // all of them
};

/// Throws Error(kInvalidArgument) with the nearest known name.
TuneLevel ParseTuneLevel(std::string_view name);

struct TuneOptions {
  std::string backend = "cpu";
  int threads = 0;
  TuneLevel level = TuneLevel::kMeasure;
  double seconds = 0.03;      // a candidate, in several rounds; at least one call a round
  double limit_seconds = 60;  // a problem, about: what is not measured by then is left out, least promising first
  std::function<bool()> stop_requested;
};

struct TuneResult {
  Problem problem;
  Plan plan;                    // the winner
  double estimate_seconds = 0;  // a call by the backend's estimate
  double best_seconds = 0;      // by the winner
  int measured = 0;             // candidates
  int left_out = 0;             // candidates that the limit left no time for
  std::vector<Plan> wrong;      // candidates whose result was wrong: never chosen
  double gain() const { return best_seconds > 0 ? estimate_seconds / best_seconds : 1; }
};

/// Candidates take turns with the estimate, in rounds, on operands that rotate through more
/// memory than the second-level cache holds. Each is first compared with the plain loops; one
/// that is far behind is left out of further rounds. The fastest must beat the estimate by 2
/// % twice, else the estimate stays. Half of the limit is for the first round, which begins
/// with the most promising candidate. Throws Error where the backend cannot do the problem.
TuneResult TuneProblem(const Problem& problem, const TuneOptions& options);

/// The asymmetry As of slices for which a layer of `problem`'s samples and neurons takes the least time a synapse: 1
/// where none of 1/4, 1/2, 2 and 4 beats that by 2 %.
double TuneAsymmetry(const Problem& problem, const TuneOptions& options);

/// What `lamina tune` tunes when asked for nothing in particular: training and inference of usual layers.
std::vector<Problem> UsualProblems();

}  // namespace lamina
