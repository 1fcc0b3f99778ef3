// Counts of vector operations decide how weights lie; tiles are shared out by their sizes.
#include "lamina/backend/cpu/small_plan.h"

#include "lamina/backend/cpu/blocking.h"

namespace lamina::cpu {

// Whole vectors run along the outputs of transposed weights, else along the inputs. The pass that sums across them adds
// up the lanes at the end. Distances are summed along the outputs for their input gradient.
Keeping KeepingOf(const LayerSpec& layer, bool first, int64_t batch, int64_t lanes) {
  constexpr int64_t kSumOfLanes = 5;
  constexpr int64_t kTurning = 4;  // a vector of weights, each step
  const int64_t along_outputs = layer.inputs * CeilDivide(layer.outputs, lanes);
  const int64_t along_inputs = layer.outputs * CeilDivide(layer.inputs, lanes);
  const int64_t back = first ? 0 : 1;
  const int64_t plain = along_inputs + layer.outputs * kSumOfLanes + (back + 1) * along_inputs;
  const int64_t turned = 2 * along_outputs + back * (along_outputs + layer.inputs * kSumOfLanes);
  const int64_t both = along_outputs + (back + 1) * along_inputs + kTurning * along_outputs / batch;
  const bool may_turn = first || !IsDistance(layer.synapse);
  if (may_turn && turned <= std::min(plain, both)) {
    return Keeping::kTurned;
  }
  return both < plain ? Keeping::kBoth : Keeping::kPlain;
}

void GradientTiles::Add(int64_t rows, int64_t columns, int64_t biases, TileOfGradient tile) {
  const int64_t vectors = CeilDivide(columns, tile.lanes);
  int64_t index = 0;
  const auto add = [&](int64_t cost) {
    pieces_.push_back({layers_, index++, cost + (pieces_.empty() ? 0 : pieces_.back().cost)});
  };
  for (int64_t v = 0; v < vectors; v += tile.vectors) {
    for (int64_t r = 0; r < rows; r += tile.rows) {
      add(std::min(tile.rows, rows - r) * std::min(tile.vectors, vectors - v));
    }
  }
  add(CeilDivide(biases, tile.lanes));
  ++layers_;
}

size_t GradientTiles::First(double share) const {
  if (share >= 1) {
    return pieces_.size();
  }
  const auto cost = static_cast<int64_t>(std::max(0.0, share) * static_cast<double>(pieces_.back().cost));
  return static_cast<size_t>(std::ranges::upper_bound(pieces_, cost, {}, &Piece::cost) - pieces_.begin());
}

}  // namespace lamina::cpu
