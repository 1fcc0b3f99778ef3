// Every neuron with every input: a layer that the backend prepares, in one block or, of several members, in one each.
#pragma once

#include <optional>

#include "lamina/backend/keeps_slopes.h"
#include "lamina/nn/stages/front_scale.h"

namespace lamina {

/// What a layer is, beside its spec.
struct DenseLayer {
  size_t index = 0;  // of the network's layers
  LayerSpec spec;
  LayerOffsets offsets;
  int64_t rows = 0;     // of a batch at most, all blocks together
  int64_t blocks = 1;   // of `outputs` neurons, each for its part of the rows
  bool frozen = false;  // its parameters stay
  bool sparse = false;  // weights that are zero stay zero: an embedding, whose neurons have a column each
  bool training = false;
};

class DenseStage : public Stage {
 public:
  DenseStage(StageMemory& memory, const DenseLayer& layer, std::unique_ptr<PreparedLayer> prepared);

  /// For training.
  void SetFrontScale(const ParameterBlock& block) {
    front_scale_.emplace(memory_, block, layer_.spec, layer_.offsets.weights);
  }

  /// In training: `below`, whose outputs this stage reads where they are, keeps slopes instead of z if both can.
  void AskForSlopes(DenseStage& below);

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  ConstMatrixView Output(int64_t rows) const override { return memory_.View(a_, rows, layer_.spec.outputs); }
  StageSlope Slope(int64_t rows) const override;
  MatrixView Delta(int64_t rows) const override { return memory_.View(delta_, rows, layer_.spec.outputs); }
  void Backward(const StageBackwardArgs& args) noexcept override;
  bool Trains() const override { return !layer_.frozen; }
  void FinishGradients() noexcept override;
  void ParametersChanged() noexcept override;
  void FoldAnswers() const noexcept override;
  bool Folds() const override { return front_scale_.has_value(); }
  void KeepRows(int64_t rows) override;
  std::string Describe() const override { return prepared_->Describe(); }

  const LayerSpec& spec() const { return layer_.spec; }
  /// Whether neurons' gradients can be computed apart (PreparedLayer::NeuronsApart()), and those of [begin, end) from
  /// the deltas of a step: to `weights.gradient` and `bias.gradient`.
  bool NeuronsApart() const { return prepared_->NeuronsApart(); }
  void GradientOfNeurons(ConstMatrixView x, int64_t begin, int64_t end, const ParameterArrays& weights,
                         const ParameterArrays& bias) noexcept;

 protected:
  /// What keeps slopes, or multiplies by those of the stage below; null: nothing.
  virtual KeepsSlopes* SlopesOf() { return dynamic_cast<KeepsSlopes*>(prepared_.get()); }
  /// What products of one block are computed with.
  ConstMatrixView WeightsFor(bool step, int64_t block) const;
  /// The gradients of one block, and the delta of the stage below, by `prepared`.
  void BackwardBlock(const StageBackwardArgs& args, int64_t block, PreparedLayer& prepared, bool has_bias) noexcept;
  const DenseLayer& layer() const { return layer_; }
  const std::unique_ptr<Buffer>& a() const { return a_; }
  const std::unique_ptr<Buffer>& z() const { return z_; }

 private:
  DenseLayer layer_;
  std::unique_ptr<PreparedLayer> prepared_;
  std::unique_ptr<Buffer> a_;         // rows × outputs
  std::unique_ptr<Buffer> z_;         // same, training only: where the slope reads it, or the slopes
  std::unique_ptr<Buffer> distance_;  // same, only where SynapseNeedsDistance
  std::unique_ptr<Buffer> delta_;     // same, training only
  KeepsSlopes* slopes_of_ = nullptr;  // prepared_, where the stage above asked for slopes
  std::optional<FrontScale> front_scale_;
};

}  // namespace lamina
