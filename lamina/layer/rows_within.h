// Exact radius search: of every row of one matrix, the rows of another that are no farther than a radius.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/layer/neighbour_tree.h"

namespace lamina {

/// How many rows were found for each row, then which they are (ascending for each row), and their distances.
struct RowsWithin {
  std::vector<int64_t> counts;
  std::vector<int64_t> indices;
  std::vector<double> distances;  // with the bits of PairwiseDistances()
};

/// The rows of `tree` within `radius` (rounded to the rows' type, inclusive) of each row
/// of x, by `threads` threads. `one_thread`: a host backend that computes with one.
/// Nothing where the tree names so many rows that computing all distances is quicker. x:
/// columns and type of the tree's rows, finite numbers. Has stop points (base/stop.h).
std::optional<RowsWithin> FindRowsWithin(ConstMatrixView x, const NeighbourTree& tree, double radius, int threads,
                                         const Backend& one_thread);

}  // namespace lamina
