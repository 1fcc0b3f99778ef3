// The numbers are measured: docs/decisions/0053-blocks-of-rows.md.
#include "lamina/backend/cpu/row_block_plan.h"

#include <algorithm>

#include "lamina/backend/cpu/blocking.h"

namespace lamina::cpu {
namespace {

constexpr int64_t kBlock_bytes = 96 << 10;  // of the values of a block, in the second-level cache
constexpr int64_t kMostTiles = 9;           // of a block: more vectors gain nothing
constexpr int64_t kEnoughGroups = 16;       // of which many threads get even shares
constexpr int64_t kManyGroups = 64;
constexpr int64_t kMostGroupBlocks = 8;
constexpr int64_t kGroupsInParts = 2;  // the last ones, so that threads end together
constexpr int64_t kParts = 4;
constexpr int64_t kByRows = 512;  // weights of a layer
// Against single layers: weights that are read once a block, and inputs of which many may be zero, which those skip.
constexpr int64_t kMostWeights_bytes = 320 << 10;
constexpr int64_t kMostInputs = 512;
// Against SmallNetwork, which takes some rows: few weights, and rows enough that vectors are full.
constexpr int64_t kSmallBatch = 1024;
constexpr int64_t kNarrow_bytes = 12 << 10;
constexpr int64_t kWeightsPerRow = 16;
// Against single layers with operands of lower precision, which tiles of them compute faster.
constexpr int64_t kNarrowRounded_bytes = 20 << 10;
constexpr int64_t kFewestRounded = 16;

}  // namespace

RowCuts::RowCuts(int64_t rows, int64_t lanes, int64_t tile_vectors, int64_t most_vectors) {
  const int64_t vectors = CeilDivide(rows, lanes);
  const int64_t even = CeilDivide(vectors, CeilDivide(vectors, most_vectors));
  block_rows = std::min(RoundUp(even, tile_vectors), most_vectors) * lanes;
  blocks = CeilDivide(rows, block_rows);
  large_blocks =
      std::max(std::clamp<int64_t>(blocks / kEnoughGroups, 1, kMostGroupBlocks), CeilDivide(blocks, kManyGroups));
  large_groups = std::max<int64_t>(0, blocks / large_blocks - kGroupsInParts);
  small_blocks = std::max<int64_t>(1, large_blocks / kParts);
  groups = large_groups + CeilDivide(blocks - large_groups * large_blocks, small_blocks);
}

int64_t MostVectors(std::span<const LayerSpec> layers, int64_t lanes, int64_t element_bytes, int64_t tile_vectors,
                    bool rounds) {
  int64_t values = layers.front().inputs + layers.back().outputs;
  for (const LayerSpec& layer : layers) {
    const int64_t arrays = 2 + (layer.activation.slope_needs_input() ? 1 : 0) +
                           (SynapseNeedsDistance(layer.synapse) ? 1 : 0) + (SynapseScalesDelta(layer.synapse) ? 1 : 0) +
                           (rounds ? 2 : 0);
    values += arrays * layer.outputs + (SumsByRows(layer, lanes) ? layer.inputs : 0);
  }
  const int64_t vectors = kBlock_bytes / (values * lanes * element_bytes);
  return std::clamp<int64_t>(vectors / tile_vectors, 1, kMostTiles) * tile_vectors;
}

bool SumsByRows(const LayerSpec& layer, int64_t lanes) {
  return layer.inputs >= lanes && layer.weight_count() >= kByRows;
}

Verdict FitsRowBlocks(const NetworkPlanRequest& request) {
  if (std::ranges::any_of(request.layers, &LayerSpec::trained_radius)) {
    return Verdict::No("trained radii are computed layer by layer");
  }
  return Verdict::Yes();
}

bool SuitsRowBlocks(const NetworkPlanRequest& request, const Verdict& small) {
  int64_t weights = 0;
  for (const LayerSpec& layer : request.layers) {
    weights += layer.weight_count();
  }
  const int64_t weight_bytes = weights * DTypeSize_bytes(request.dtype);
  if (!FitsRowBlocks(request)) {
    return false;
  }
  if (LosesDigits(request.precision)) {
    return weight_bytes <= kNarrowRounded_bytes && request.max_batch >= kFewestRounded;
  }
  if (!small && request.max_batch > kSmallBatch) {
    return weight_bytes <= kMostWeights_bytes && request.layers.front().inputs <= kMostInputs;
  }
  return weight_bytes <= kNarrow_bytes && request.max_batch * kWeightsPerRow >= weights;
}

}  // namespace lamina::cpu
