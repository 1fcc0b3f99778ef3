// The front scale: a trained factor s for every input, as a re-parametrisation of the first layer's weights. The layer
// computes with W diag(s); both factors are trained, and what answers keeps the product only. In host memory.
#pragma once

#include "lamina/base/matrix_view.h"

namespace lamina {

/// folded = weights diag(scale). Both outputs × inputs in f32 or f64, `scale` inputs elements of the same type.
void FoldFrontScale(ConstMatrixView weights, const void* scale, MatrixView folded) noexcept;

/// From the gradient of W diag(s), which `gradient` holds, to those of its factors: the gradient of W is left in
/// `gradient` (outputs × inputs), that of s in `scale_gradient` (inputs elements).
void SplitFrontScaleGradient(ConstMatrixView weights, const void* scale, MatrixView gradient,
                             void* scale_gradient) noexcept;

}  // namespace lamina
