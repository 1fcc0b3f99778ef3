// Activations whose slopes need z (mish, gelu, silu): value and slope together cost little more than one of them. So a
// forward pass may keep slopes, and the input gradient of the layer above multiplies by them.
#pragma once

#include "lamina/backend/backend.h"

namespace lamina {

/// What a PreparedLayer is besides, where its backend has this way. Shapes, aliasing and threads are PreparedLayer's.
class KeepsSlopes {
 public:
  virtual ~KeepsSlopes() = default;
  /// Whether the activation's slope reads z, and ForwardKeeping() finds it.
  virtual bool FindsSlopes() const = 0;
  /// Forward() that writes `slopes` (batch × outputs) instead of args.z, which is empty.
  virtual void ForwardKeeping(const ForwardArgs& args, const MatrixView& slopes) noexcept = 0;
  /// InputGradient() times `slopes` (batch × inputs), those of the layer before. args.previous is null.
  virtual void InputGradientTimes(const InputGradientArgs& args, const ConstMatrixView& slopes) noexcept = 0;
};

}  // namespace lamina
