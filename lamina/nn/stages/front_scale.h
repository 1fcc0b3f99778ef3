// The front scale: a trained factor s for every input of a layer, as a re-parametrisation of its weights. The layer
// computes with W diag(s); both factors are trained, and what answers keeps the product only.
#pragma once

#include "lamina/nn/stage.h"

namespace lamina {

class FrontScale {
 public:
  /// `block`: of kind kFrontScale. `weights`: offset of the layer's.
  FrontScale(StageMemory& memory, const ParameterBlock& block, const LayerSpec& spec, int64_t weights);

  /// W diag(s), outputs × inputs.
  ConstMatrixView weights() const { return Folded(); }
  /// Works them out anew.
  void Fold() noexcept;
  /// From the gradient of W diag(s), which stands in the place of that of W, to those of W and s.
  void SplitGradient() noexcept;

 private:
  MatrixView Folded() const { return memory_.MatrixAt(*folded_, 0, spec_.outputs, spec_.inputs); }

  StageMemory& memory_;
  LayerSpec spec_;
  int64_t offset_;
  int64_t weights_;
  std::unique_ptr<Buffer> folded_;
};

}  // namespace lamina
