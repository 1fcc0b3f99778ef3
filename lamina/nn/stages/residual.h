// Residual blocks (He et al. 2016): what some layers give is added to what the first of them was given. A stage at the
// beginning keeps the input, one at the end adds it.
#pragma once

#include "lamina/nn/stage.h"

namespace lamina {

class ResidualEnd;

class ResidualBegin final : public Stage {
 public:
  /// `below`: whose output the block takes; null: the network's input. Rows × cols of a batch at most.
  ResidualBegin(StageMemory& memory, const Stage* below, int64_t rows, int64_t cols, bool training);

  /// The end of the block, which outlives the calls.
  void SetEnd(const ResidualEnd& end) { end_ = &end; }
  /// What the block was given last.
  ConstMatrixView Input() const { return input_; }

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  ConstMatrixView Output(int64_t rows) const override { return input_.Rows(0, rows); }
  StageSlope Slope(int64_t rows) const override { return below_->Slope(rows); }
  MatrixView Delta(int64_t rows) const override { return below_->Delta(rows); }
  void Backward(const StageBackwardArgs& args) noexcept override;
  void KeepRows(int64_t rows) override { memory_.Grow(skipped_, rows, cols_); }

 private:
  const Stage* below_;
  int64_t cols_;
  const ResidualEnd* end_ = nullptr;
  ConstMatrixView input_;
  std::unique_ptr<Buffer> skipped_;  // training only: the delta that goes around the block
};

class ResidualEnd final : public Stage {
 public:
  ResidualEnd(StageMemory& memory, const ResidualBegin& begin, int64_t rows, int64_t cols, bool training);

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  ConstMatrixView Output(int64_t rows) const override { return memory_.View(sum_, rows, cols_); }
  StageSlope Slope(int64_t /*rows*/) const override { return {}; }
  MatrixView Delta(int64_t rows) const override { return memory_.View(delta_, rows, cols_); }
  void Backward(const StageBackwardArgs& args) noexcept override;
  void KeepRows(int64_t rows) override;

 private:
  const ResidualBegin& begin_;
  int64_t cols_;
  std::unique_ptr<Buffer> sum_;
  std::unique_ptr<Buffer> delta_;  // training only
};

}  // namespace lamina
