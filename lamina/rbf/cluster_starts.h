// Where the centers of clusters start.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/random.h"
#include "lamina/rbf/clusters.h"

namespace lamina {

/// Draws the rows where centers start, in two parts: a sample of all rows, then centers among it. The same for any
/// number of ranks.
class ClusterStarts {
 public:
  /// Starts among `rows` rows. Reads count, kind, start, seed, shards and ranks of `options`, which must outlive it.
  ClusterStarts(int64_t rows, const ClusterOptions& options);

  /// Ascending for plusplus, of which a sample is; for rows, the centers themselves.
  const std::vector<int64_t>& sample() const { return sample_; }
  /// The centers, count × columns, of the rows sample(), which all ranks have. Once. Collective.
  Matrix Choose(Matrix sample, const Backend& backend);

 private:
  int64_t DrawByDistance(const class RowShards& shards, const std::vector<double>& distances,
                         const std::vector<int64_t>& chosen);

  const ClusterOptions& options_;
  Random random_;
  std::vector<int64_t> sample_;
};

/// `count` different numbers below `below`, in the order they were drawn.
std::vector<int64_t> DrawDifferent(int64_t count, int64_t below, Random& random);

}  // namespace lamina
