// Stage: one piece of a network as it is computed, in training steps and for answers. An executor is a list of them.
// What a network's layers and a step's options ask for is told by MakeStages().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/nn/parameter_table.h"

namespace lamina {

/// What the stages of a network share: its arrays in the backend's memory.
struct StageMemory {
  const Backend& backend;
  const Elementwise& elementwise;
  DType dtype = DType::kF32;
  std::unique_ptr<Buffer> parameters = nullptr;  // flat arrays by the ParameterTable
  std::unique_ptr<Buffer> gradients = nullptr;
  std::vector<std::unique_ptr<Buffer>> states = {};
  std::unique_ptr<Buffer> folded = nullptr;  // Network::parameters() that answer; null: those that are trained do
  int64_t kept = 0;                          // the row of all buffers of rows where those of a batch begin

  std::unique_ptr<Buffer> AllocateRows(int64_t rows, int64_t cols) const;
  /// As AllocateRows(), where `buffer` is there and smaller; its content is lost.
  void Grow(std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols) const;
  /// Rows from `first` of the kept ones on; empty where the buffer is null.
  MatrixView View(const std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols, int64_t first = 0) const;
  /// An array of a buffer that is laid out like the parameters.
  void* At(const Buffer& flat, int64_t offset) const;
  MatrixView MatrixAt(const Buffer& flat, int64_t offset, int64_t rows, int64_t cols) const;
  ParameterArrays ArraysAt(int64_t offset) const;
  /// What is computed with: in a step what is trained, else what answers.
  const Buffer& ParametersFor(bool step) const { return step || folded == nullptr ? *parameters : *folded; }
};

/// How ∂E/∂output of a stage becomes its delta: times the slope of an activation, or `slopes` where the stage above
/// asked to have these kept. Neither: as it is.
struct StageSlope {
  const Activation* activation = nullptr;
  ConstMatrixView z;  // only where activation->slope_needs_input()
  ConstMatrixView a;
  ConstMatrixView slopes = {};
};

class Stage;

struct StageBackwardArgs {
  ConstMatrixView x;       // what the stage was given
  Stage* below = nullptr;  // takes the delta of its output; null: nobody asks for it
  const UpdateRule* rule = nullptr;
  bool deltas_only = false;  // no gradients of parameters
};

/// One caller at a time. The calls of a step allocate nothing.
class Stage {
 public:
  explicit Stage(StageMemory& memory) : memory_(memory) {}
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// What comes out for `x`. `step`: the number of a training step; null: an answer.
  virtual ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept = 0;
  /// What came out in a step.
  virtual ConstMatrixView Output(int64_t rows) const = 0;
  virtual StageSlope Slope(int64_t rows) const = 0;
  /// ∂E/∂output times the slope: written by the stage above, or from the loss.
  virtual MatrixView Delta(int64_t rows) const = 0;
  /// From Delta() to the gradients of the parameters, updated where there is a rule, and to the delta of the stage
  /// below.
  virtual void Backward(const StageBackwardArgs& args) noexcept = 0;

  /// Whether it has parameters that gradients change.
  virtual bool Trains() const { return false; }
  /// Before an update by gradients that are summed up: makes those of all its parameters of them.
  virtual void FinishGradients() noexcept {}
  /// After parameters have changed.
  virtual void ParametersChanged() noexcept {}
  /// Puts what answers in its place into StageMemory::folded, which holds a copy of what is trained.
  virtual void FoldAnswers() const noexcept {}
  virtual bool Folds() const { return false; }
  /// Room for so many rows of Output() and Delta().
  virtual void KeepRows(int64_t rows) = 0;
  /// A line for reports; empty: none.
  virtual std::string Describe() const { return ""; }

 protected:
  StageMemory& memory_;
};

}  // namespace lamina
