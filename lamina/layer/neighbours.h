// Exact nearest neighbors: of every row of one matrix, the nearest rows of another.
#pragma once

#include <cstdint>
#include <functional>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/names.h"
#include "lamina/base/row_source.h"
#include "lamina/layer/sliced_layer.h"
#include "lamina/neuron/problem.h"

namespace lamina {

class NeighbourTree;  // layer/neighbour_tree.h

/// How far rows are apart. dot: the nearest have the largest product.
inline constexpr Named<Synapse> kMetrics[] = {{"l2", Synapse::kL2}, {"l1", Synapse::kL1}, {"dot", Synapse::kDot}};

struct NeighbourOptions {
  Synapse metric = Synapse::kL2;  // any
  int64_t k = 1;
  int64_t first_row = 0;  // of x among more rows: for errors
  /// Over y by this metric, for a backend that compares by itself; null: one is made where it pays.
  const NeighbourTree* tree = nullptr;

  static constexpr int64_t kMost = 1024;
};

/// Where the neighbors of consecutive rows go. Views of rows × k: indices i64, of rows of y; distances of
/// DistanceType(), not written where empty.
struct NeighbourOutput {
  MatrixView indices;
  MatrixView distances;
  std::function<void(int64_t begin, int64_t rows)> finished;  // told of rows that are complete
};

/// Throws Error(kInvalidArgument) for columns or types that differ, and for a k that is not from 1 to kMost and the
/// rows of y.
void RequireNeighbours(const RowSource& x, const RowSource& y, const NeighbourOptions& options);

/// The k rows of y that are nearest to each row of x, nearest first; of equally near ones, the lower index first.
/// Distances are computed in blocks that stay in cache and are used at once, so no whole matrix of them exists. Rows of
/// x and y need not fit memory; y is read once for every 64 MiB of neighbors. Results do not depend on the number of
/// threads. Rows in the memory of the backend's device are compared there. False where callbacks.stop_requested() ended
/// it. Throws as RequireNeighbours(), and Error(kUnsupported) with the backend's reason. Error(kBadData) where a row
/// has fewer than k finite distances.
bool NearestRows(RowSource& x, RowSource& y, const NeighbourOptions& options, const Backend& backend,
                 const NeighbourOutput& out, const SliceCallbacks& callbacks = {});

}  // namespace lamina
