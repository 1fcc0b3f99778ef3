// The novelty pass: which rows become centers of a layer of radial basis functions (FSVC, SFSVC).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/neuron/problem.h"

namespace lamina {

struct NoveltyOptions {
  /// A distance and its curve, triangle or gaussian; sizes are those of the rows.
  Synapse synapse = Synapse::kL1;
  Activation activation;
  /// A row becomes a center where the activations of the centers so far sum to less; above 0, at most kLargestOverlap.
  double overlap = 1;
  /// The pass ends early with more centers than this.
  int64_t most_centres = std::numeric_limits<int64_t>::max();
  /// Asked after every block; true ends the pass.
  std::function<bool()> stop_requested;
  /// Told after every block: rows decided, centers so far.
  std::function<void(int64_t rows, int64_t centres)> progress;

  static constexpr double kLargestOverlap = 4096;
};

struct NoveltyResult {
  std::vector<int64_t> centres;  // rows, ascending
  bool complete = false;         // false: stopped, or more than most_centres
  int64_t rows = 0;              // decided
  int64_t pairs = 0;             // that a loop over rows and the centers before each looks at
  int64_t pairs_computed = 0;    // that were: a row whose sum is large enough is not looked at any more
};

/// One pass over the rows in their order; the first is a center. Row i becomes one where the sum of
/// activation(distance(row i, center)) over the centers so far is below `overlap` (Dogaru 2007). Blocks of rows meet
/// the centers so far in one layer, and one another only as far as they may still become centers. Every activation is
/// rounded to a multiple of 2^-40, in f32 far below its own rounding. So sums are exact in any order, and the result is
/// that of the loop over single rows, for every number of threads. Throws Error(kInvalidArgument) for another
/// activation or overlap, Error(kUnsupported) with the backend's reason.
NoveltyResult FindCentres(ConstMatrixView rows, const NoveltyOptions& options, const Backend& backend);

}  // namespace lamina
