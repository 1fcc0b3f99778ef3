// Candidates from the register tile and the cache sizes.
#include "lamina/backend/cpu/candidates.h"

#include <algorithm>

#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/team.h"

namespace lamina::cpu {
namespace {

// The product a pass is: result rows × columns, sums of `depth` terms.
struct Extent {
  int64_t rows, columns, depth;
};

Extent ExtentOf(const Problem& problem) {
  const LayerSpec& layer = problem.layer;
  switch (problem.pass) {
    case Pass::kForward: return {layer.outputs, problem.batch, layer.inputs};
    case Pass::kInputGradient: return {problem.batch, layer.inputs, layer.outputs};
    case Pass::kWeightGradient: break;
  }
  return {layer.outputs, layer.inputs, problem.batch};
}

// Cycles of a tile's step for each useful vector operation. A step loads each vector and broadcasts for each row; a
// cycle does two of either and two operations. Few sums wait for a latency of 4. The empty part of the last vectors
// counts as well.
double TileCost(const Extent& extent, int64_t rows, int64_t vectors, int64_t lanes) {
  const auto sums = static_cast<double>(rows * vectors);
  const double cycles = std::max({sums / 2, static_cast<double>(rows + vectors) / 2, 4.0});
  const auto used = static_cast<double>(extent.columns);
  return cycles / sums * static_cast<double>(RoundUp(extent.columns, lanes)) / std::max(1.0, used);
}

// Loading and storing partial sums between blocks of depth, and what does not fit the caches.
double CacheCost(const Extent& extent, int64_t depth, double cache_share) {
  const double blocks = static_cast<double>(CeilDivide(std::max<int64_t>(1, extent.depth), depth));
  return 1 + 4 * (blocks - 1) / static_cast<double>(std::max<int64_t>(1, extent.depth)) + (depth > 1024 ? 0.02 : 0.0) +
         (cache_share > 0.5 ? 0.01 : 0.0);
}

}  // namespace

std::vector<int64_t> CandidateTeams(const Problem& problem, int threads) {
  if (threads > 1 && problem.batch * problem.layer.weight_count() < 32 * kWorkPerThread) {
    return {1, threads};
  }
  return {0};
}

std::vector<Candidate> TileCandidates(const Problem& problem, int threads) {
  const TileShape shape = problem.dtype == DType::kF64 ? Kernels<double>().shape : Kernels<float>().shape;
  const Extent extent = ExtentOf(problem);
  const CacheBudget budget = MachineBudget(1);
  std::vector<Candidate> candidates;
  for (const int64_t team : CandidateTeams(problem, threads)) {
    if (problem.pass == Pass::kForward && (problem.batch <= 48 || problem.layer.outputs <= 48)) {
      candidates.push_back({0.45, {.kernel = "dots", .threads = team}});
    }
    for (int64_t rows = shape.rows; rows >= std::max<int64_t>(2, shape.rows - 4); --rows) {
      for (int64_t vectors = shape.vectors; vectors >= 1; --vectors) {
        for (const int64_t depth : {256, 512, 1024, 2048, 4096}) {
          for (const double share : {0.5, 1.0, 1.5}) {  // of the half of the second level that the estimate takes
            if (depth / 2 >= extent.depth && depth > 256) {
              continue;  // the same as the one before
            }
            const double cost = TileCost(extent, rows, vectors, shape.lanes) * CacheCost(extent, depth, share / 2);
            candidates.push_back(
                {cost,
                 {.kernel = problem.pass == Pass::kForward ? "tile" : "",
                  .tile_rows = rows,
                  .tile_vectors = vectors,
                  .depth = depth,
                  .cache_bytes = static_cast<int64_t>(share * static_cast<double>(budget.column_block)),
                  .threads = team}});
          }
        }
      }
    }
  }
  return candidates;
}

}  // namespace lamina::cpu
