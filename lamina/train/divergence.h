// Training that came to numbers which are none.
#pragma once

#include <cstdint>
#include <optional>

#include "lamina/base/buffer.h"
#include "lamina/neuron/update_rule.h"

namespace lamina {

/// The step of an epoch, all from 1.
struct StepPlace {
  int64_t epoch = 0;
  int64_t step = 0;
  int64_t steps = 0;
};

/// Throws Error(kDiverged): "WHICH became NaN" or "infinite", where, and what to try.
[[noreturn]] void ThrowDiverged(const char* which, double value, StepPlace place, const UpdateRule& rule);

/// The first NaN or infinite element of f32 or f64 numbers.
std::optional<double> FirstNotFinite(const AlignedBuffer& numbers, DType dtype);

}  // namespace lamina
