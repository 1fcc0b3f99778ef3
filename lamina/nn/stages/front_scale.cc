// Products with the columns' factors.
#include "lamina/nn/stages/front_scale.h"

namespace lamina {

FrontScale::FrontScale(StageMemory& memory, const ParameterBlock& block, const LayerSpec& spec, int64_t weights)
    : memory_(memory),
      spec_(spec),
      offset_(block.offset),
      weights_(weights),
      folded_(memory.AllocateRows(spec.outputs, spec.inputs)) {}

void FrontScale::Fold() noexcept {
  memory_.elementwise.ScaleColumns(memory_.MatrixAt(*memory_.parameters, weights_, spec_.outputs, spec_.inputs),
                                   memory_.At(*memory_.parameters, offset_), Folded());
}

void FrontScale::SplitGradient() noexcept {
  const MatrixView gradient = memory_.MatrixAt(*memory_.gradients, weights_, spec_.outputs, spec_.inputs);
  const ParameterArrays scale = memory_.ArraysAt(offset_);
  memory_.elementwise.ColumnProducts(memory_.MatrixAt(*memory_.parameters, weights_, spec_.outputs, spec_.inputs),
                                     gradient, scale.gradient);
  memory_.elementwise.ScaleColumns(gradient, scale.value, gradient);
}

}  // namespace lamina
