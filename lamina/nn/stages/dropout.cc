// A mask a step.
#include "lamina/nn/stages/dropout.h"

namespace lamina {

DropoutStage::DropoutStage(StageMemory& memory, Stage& below, const Stream& stream, int64_t rows, int64_t cols)
    : Stage(memory),
      below_(below),
      stream_(stream),
      cols_(cols),
      mask_(memory.AllocateRows(rows, cols)),
      dropped_(memory.AllocateRows(rows, cols)) {
  memory.elementwise.PrepareDropout();
}

ConstMatrixView DropoutStage::Forward(ConstMatrixView x, const int64_t* step) noexcept {
  if (step == nullptr) {
    return x;
  }
  const MatrixView mask = memory_.View(mask_, x.rows, cols_);
  const uint64_t stream = kDropoutStreams + static_cast<uint64_t>(*step) * stream_.layers + stream_.layer;
  memory_.elementwise.DropoutMask(stream_.dropout, stream_.seed, stream, mask);
  memory_.elementwise.Multiply(x, mask, memory_.View(dropped_, x.rows, cols_));
  return Output(x.rows);
}

void DropoutStage::Backward(const StageBackwardArgs& args) noexcept {
  const MatrixView delta = Delta(args.x.rows);
  memory_.elementwise.Multiply(delta, memory_.View(mask_, args.x.rows, cols_), delta);
}

void DropoutStage::KeepRows(int64_t rows) {
  memory_.Grow(mask_, rows, cols_);
  memory_.Grow(dropped_, rows, cols_);
}

}  // namespace lamina
