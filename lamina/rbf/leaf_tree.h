// Rows cut into leaves that overlap, and the network that says how much each leaf counts for a row.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"

namespace lamina {

struct LeafOptions {
  int64_t depth = 1;  // of the tree: up to 2^depth leaves
  /// The share of a node's rows that lie where both of its halves answer.
  double overlap = 0.1;
  int threads = 1;
};

/// A node's rows are cut in two where their median is along `direction`, the top one of the answer's slopes.
struct LeafSplit {
  std::vector<double> direction;  // one a column
  double at = 0;
  double width = 1;  // so far beyond `at` a half still counts
};

struct LeafTree {
  /// The splits from the first one to a leaf, and whether it is beyond each.
  struct Leaf {
    std::vector<int64_t> splits;
    std::vector<bool> beyond;
    std::vector<int64_t> rows;  // of the data set, that count in it, ascending
  };
  std::vector<LeafSplit> splits;
  std::vector<Leaf> leaves;
};

/// `train`: rows of weight above 0. A node whose rows are all alike along its direction is a leaf, whatever its depth.
/// Throws Stopped.
LeafTree GrowLeaves(const Dataset& train, const LeafOptions& options);

/// columns-2 splits-leaves, of relu. An output is 1 where the row is on the leaf's side of all its splits. It falls,
/// down to 0, by how far the row is beyond each, in widths.
Network GatesOf(const LeafTree& tree, int64_t columns, DType dtype);

}  // namespace lamina
