// Sums forward, and a delta that goes both ways back.
#include "lamina/nn/stages/residual.h"

namespace lamina {
namespace {

// to = delta times the slope of a stage.
void ThroughSlope(const Elementwise& elementwise, ConstMatrixView delta, const StageSlope& slope, MatrixView to) {
  elementwise.Repeat(delta, 1, to);
  if (slope.activation != nullptr) {
    elementwise.MultiplySlope(*slope.activation, slope.z, slope.a, to);
  }
}

}  // namespace

ResidualBegin::ResidualBegin(StageMemory& memory, const Stage* below, int64_t rows, int64_t cols, bool training)
    : Stage(memory), below_(below), cols_(cols), skipped_(training ? memory.AllocateRows(rows, cols) : nullptr) {}

ConstMatrixView ResidualBegin::Forward(ConstMatrixView x, const int64_t* /*step*/) noexcept {
  input_ = x;
  return x;
}

// The block's first layer has left in the delta below what comes through the block.
void ResidualBegin::Backward(const StageBackwardArgs& args) noexcept {
  if (args.below == nullptr) {
    return;
  }
  const int64_t rows = args.x.rows;
  const MatrixView skipped = memory_.View(skipped_, rows, cols_);
  ThroughSlope(memory_.elementwise, end_->Delta(rows), args.below->Slope(rows), skipped);
  const MatrixView delta = args.below->Delta(rows);
  memory_.elementwise.Add(delta, skipped, delta);
}

ResidualEnd::ResidualEnd(StageMemory& memory, const ResidualBegin& begin, int64_t rows, int64_t cols, bool training)
    : Stage(memory),
      begin_(begin),
      cols_(cols),
      sum_(memory.AllocateRows(rows, cols)),
      delta_(training ? memory.AllocateRows(rows, cols) : nullptr) {}

ConstMatrixView ResidualEnd::Forward(ConstMatrixView x, const int64_t* /*step*/) noexcept {
  memory_.elementwise.Add(x, begin_.Input(), memory_.View(sum_, x.rows, cols_));
  return Output(x.rows);
}

void ResidualEnd::Backward(const StageBackwardArgs& args) noexcept {
  if (args.below != nullptr) {
    const int64_t rows = args.x.rows;
    ThroughSlope(memory_.elementwise, Delta(rows), args.below->Slope(rows), args.below->Delta(rows));
  }
}

void ResidualEnd::KeepRows(int64_t rows) {
  memory_.Grow(sum_, rows, cols_);
  memory_.Grow(delta_, rows, cols_);
}

}  // namespace lamina
