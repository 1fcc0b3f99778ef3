// A layer of dot products, normalized by the batch of each training step (Ioffe and Szegedy 2015, arXiv:1502.03167). V,
// γ, β and the running statistics are trained. Folded together, they answer as one layer. β stands in the place of the
// bias.
#pragma once

#include "lamina/nn/stages/dense.h"

namespace lamina {

class NormalizedStage final : public DenseStage {
 public:
  struct Offsets {  // of γ and the running statistics in the flat arrays, in elements
    int64_t gamma = 0;
    int64_t mean = 0;
    int64_t variance = 0;
  };

  /// `answers`: prepared for answers; `product`: the same layer without bias and activation, for training.
  /// `starts_trained`: StepOptions::starts_trained.
  NormalizedStage(StageMemory& memory, const DenseLayer& layer, std::unique_ptr<PreparedLayer> answers,
                  std::unique_ptr<PreparedLayer> product, const Offsets& offsets, bool starts_trained);

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  void Backward(const StageBackwardArgs& args) noexcept override;
  void FoldAnswers() const noexcept override;
  bool Folds() const override { return true; }
  std::string Describe() const override { return product_->Describe() + ", normalized by the batch"; }

 protected:
  KeepsSlopes* SlopesOf() override { return nullptr; }

 private:
  NormalizationArrays Arrays() const;

  std::unique_ptr<PreparedLayer> product_;
  Offsets offsets_;
  bool starts_trained_;
  std::unique_ptr<Buffer> normalized_;  // rows × outputs
  std::unique_ptr<Buffer> inverse_;     // outputs: 1 / √(variance + ε)
};

}  // namespace lamina
