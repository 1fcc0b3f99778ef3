// How the weights of a small network lie, and which thread updates which of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lamina/base/team.h"
#include "lamina/neuron/problem.h"

namespace lamina::cpu {

/// As outputs × inputs, turned, or both: the turned ones for the forward pass.
enum class Keeping { kPlain, kTurned, kBoth };

/// The cheapest for a layer, by the vector operations of its passes. `first`: it has no input gradient.
Keeping KeepingOf(const LayerSpec& layer, bool first, int64_t batch, int64_t lanes);

/// A tile of the weights' gradient.
struct TileOfGradient {
  int64_t rows;
  int64_t vectors;
  int64_t lanes;  // of a vector
};

/// The tiles of all layers' gradients one after the other, down each column of tiles; after those of a layer its bias.
class GradientTiles {
 public:
  /// The next layer: its weights as rows × columns.
  void Add(int64_t rows, int64_t columns, int64_t biases, TileOfGradient tile);

  /// fn(layer, begin, end) for the tiles in [begin, end) of the whole work, shares that may lie outside of [0, 1].
  template <class Fn>
  void ForShare(double begin, double end, const Fn& fn) const {
    const size_t last = First(end);
    for (size_t i = First(begin); i < last;) {
      const Piece& first = pieces_[i];
      int64_t tile = first.tile;
      for (; i < last && pieces_[i].layer == first.layer; ++i) {
        ++tile;
      }
      fn(first.layer, first.tile, tile);
    }
  }

 private:
  struct Piece {
    size_t layer;
    int64_t tile;
    int64_t cost;  // of all up to this one
  };
  // The first piece that ends after a share of the work.
  size_t First(double share) const;

  size_t layers_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace lamina::cpu
