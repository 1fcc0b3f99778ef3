// How the rows of a step are cut to blocks and groups, how their gradients are summed, and where that is the faster
// way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// Blocks of rows, and the groups of blocks that share a gradient. They depend on the number of rows alone, so results
/// do not depend on threads.
struct RowCuts {
  static constexpr int64_t kMostGroups = 80;

  RowCuts(int64_t rows, int64_t lanes, int64_t tile_vectors, int64_t most_vectors);

  /// The first block of a group; of `groups` the number of blocks.
  int64_t BeginOf(int64_t group) const {
    return std::min(blocks, std::min(group, large_groups) * large_blocks +
                                std::max<int64_t>(0, group - large_groups) * small_blocks);
  }

  int64_t block_rows;
  int64_t blocks;
  // Groups of many blocks, then of few: threads take them one by one, and wait in the end for one of few at most.
  int64_t large_blocks;
  int64_t large_groups;
  int64_t small_blocks;
  int64_t groups;  // no more than blocks, nor than kMostGroups
};

/// Vectors of a block, whole tiles of them. `rounds`: operands are rounded copies.
int64_t MostVectors(std::span<const LayerSpec> layers, int64_t lanes, int64_t element_bytes, int64_t tile_vectors,
                    bool rounds);

/// Whether the weights' gradient is summed by rows: vectors then run along the inputs, which are turned for it. Few
/// weights are not worth that; for many, sums of every lane would leave the first-level cache.
bool SumsByRows(const LayerSpec& layer, int64_t lanes);

/// Whether blocks of rows can compute the network; the reason why not otherwise.
Verdict FitsRowBlocks(const NetworkPlanRequest& request);

/// Whether they are the faster way. `small`: whether SmallNetwork would be, were it not for them.
bool SuitsRowBlocks(const NetworkPlanRequest& request, const Verdict& small);

}  // namespace lamina::cpu
