// Dropout (Srivastava et al. 2014): each training step sets a share of a layer's outputs to zero. The others are
// multiplied by 1 / (1 - dropout).
#pragma once

#include "lamina/nn/stage.h"

namespace lamina {

/// Streams of Random for the masks of a seed: those below belong to weights and the order of rows.
inline constexpr uint64_t kDropoutStreams = uint64_t{1} << 32;

class DropoutStage final : public Stage {
 public:
  struct Stream {
    double dropout = 0;
    uint64_t seed = 0;
    uint64_t layer = 0;   // whose outputs are dropped
    uint64_t layers = 1;  // of the network
  };

  /// `below`: the stage whose outputs are dropped. Rows × cols of a batch at most.
  DropoutStage(StageMemory& memory, Stage& below, const Stream& stream, int64_t rows, int64_t cols);

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  ConstMatrixView Output(int64_t rows) const override { return memory_.View(dropped_, rows, cols_); }
  StageSlope Slope(int64_t rows) const override { return below_.Slope(rows); }  // by what the activation gave
  MatrixView Delta(int64_t rows) const override { return below_.Delta(rows); }
  void Backward(const StageBackwardArgs& args) noexcept override;
  void KeepRows(int64_t rows) override;

 private:
  Stage& below_;
  Stream stream_;
  int64_t cols_;
  std::unique_ptr<Buffer> mask_;
  std::unique_ptr<Buffer> dropped_;
};

}  // namespace lamina
