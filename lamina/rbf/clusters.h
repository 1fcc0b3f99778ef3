// k-means and k-medians: centers for layers of distance neurons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/names.h"
#include "lamina/base/row_source.h"
#include "lamina/neuron/problem.h"

namespace lamina {

class Communicator;  // cluster/communicator.h

/// kMeans: squared Euclidean distance, centers are means. kMedians: Manhattan distance, centers are medians feature by
/// feature.
enum class ClusterKind { kMeans, kMedians };
inline constexpr Named<ClusterKind> kClusterKinds[] = {{"k-means", ClusterKind::kMeans},
                                                       {"k-medians", ClusterKind::kMedians}};

/// Where centers start. kPlusPlus draws one after the other, in proportion to the distance from those before
/// (k-means++, Arthur and Vassilvitskii 2007). k-medians use their own distance. It draws among at most 32 rows a
/// center and 1,024 more. kRows takes any rows, all different.
enum class ClusterStart { kPlusPlus, kRows };
inline constexpr Named<ClusterStart> kClusterStarts[] = {{"plusplus", ClusterStart::kPlusPlus},
                                                         {"rows", ClusterStart::kRows}};

struct ClusterOptions {
  ClusterKind kind = ClusterKind::kMeans;
  int64_t count = 256;
  ClusterStart start = ClusterStart::kPlusPlus;
  int64_t iterations = 25;  // at most; ends where no row changes its center
  int64_t batch = 0;        // rows drawn for an iteration; 0: all rows
  uint64_t seed = 1;
  /// Parts of the rows whose sums are added by a tree, so that any number of ranks gives the same bits; 0: one.
  int64_t shards = 0;
  Communicator* ranks = nullptr;  // that share them, and all have all rows; null: this process alone. All then call it
  std::function<bool()> stop_requested;
  std::function<void(int64_t iteration, double mean_distance)> progress;
};

struct Clusters {
  Matrix centres;            // count × columns
  double mean_distance = 0;  // of all rows to their centers: squared for kMeans
  int64_t iterations = 0;
  bool complete = false;  // false: stopped
};

/// Rows in f32 or f64, which need not be in memory. NearestRows() finds the nearest centers; of equally near ones, the
/// lower index wins. A center without rows takes the row that is farthest from its own. With a batch, a center moves
/// toward the mean or median of its rows in it, by their share in all so far (Sculley 2010). The same bits for every
/// number of threads and ranks. Throws Error(kInvalidArgument) for integers, for more centers than rows and for more
/// ranks than shards, and as NearestRows(). Collective.
Clusters FindClusters(RowSource& rows, const ClusterOptions& options, const Backend& backend);

// What they are made of.

inline Synapse MetricOf(ClusterKind kind) { return kind == ClusterKind::kMeans ? Synapse::kL2Squared : Synapse::kL1; }
inline int64_t ShardsOf(const ClusterOptions& options) { return std::max<int64_t>(options.shards, 1); }

/// Throws Error(kInvalidArgument) for centers that cannot be found among so many rows of this type.
void RequireClusters(int64_t rows, DType dtype, int64_t count);

/// Adds rows [begin, end) in f32 or f64 to the sums of their centers, centers × columns: centre[0] is that of row
/// `begin`. In the order of the rows, by any number of threads.
void AddToCentres(RowSource& rows, int64_t begin, int64_t end, const int64_t* centre, double* sums, int threads);

/// The middle of numbers, of two the mean; `values` is put in another order.
double MedianOf(std::vector<double>& values);

}  // namespace lamina
