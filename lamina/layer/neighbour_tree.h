// A k-d tree over rows of few columns: which of them may be among the nearest to a row, without a look at the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// A tree over rows in f32 or f64 that outlive it. It only leaves rows out. The caller compares those it names by the
/// backend's own distances, so answers have the same bits with and without it.
class NeighbourTree {
 public:
  /// Whether there can be one: f32 or f64, a distance (not dot), finite numbers, 1 to kMostColumns columns.
  static bool Takes(ConstMatrixView rows, Synapse metric);
  static constexpr int64_t kMostColumns = 16;

  /// Sorts the rows into a tree, on this thread, which takes about 0.4 us a row; has stop points (base/stop.h).
  NeighbourTree(ConstMatrixView rows, Synapse metric);
  ~NeighbourTree();

  ConstMatrixView rows() const { return rows_; }
  Synapse metric() const { return metric_; }

  /// Puts into `found`, ascending, the k rows nearest to `x` (its columns,
  /// in the rows' type) and those equally near, up to rounding. Fewer than k
  /// where so few are at a finite distance. May be called from any thread.
  void MayBeNearest(const void* x, int64_t k, std::vector<int64_t>& found) const;

  /// Into `found`, ascending: at least all rows within `radius` of `x` by the metric (of l2sq a squared one). From any
  /// thread.
  void MayBeWithin(const void* x, double radius, std::vector<int64_t>& found) const;

  class Search;

 private:
  ConstMatrixView rows_;
  Synapse metric_;
  std::unique_ptr<Search> search_;
};

/// Whether a tree over `rows` is worth making for finding the nearest of so many other rows: by measurements
/// (docs/decisions/0048-neighbour-trees.md).
bool TreePays(int64_t queries, ConstMatrixView rows, Synapse metric, int threads);

}  // namespace lamina
