// Slopes of synapses in the gradients' sums.
#pragma once

#include "lamina/backend/cuda/language.h"
#include "lamina/neuron/formulas.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// The slope of a term as the GPU adds it up best.
template <class Term, class S>
struct Slope {
  __device__ static S Accumulate(S scale, S own, S other, S sum) {
    return Term::AccumulateSlope(scale, own, other, sum);
  }
};

/// The sign of a difference without comparisons, which go at half the rate: 0, 1/2 or 1 of a saturated product, doubled
/// and moved by 1, all on the multiplier's pipe. Two numbers that are not equal, but closer than 2^-127, count as equal
/// in part; of a NaN the sign is -1 (the loss is NaN all the same). docs/decisions/0009.
template <>
struct Slope<formulas::AbsoluteDifferenceTerm, float> {
  __device__ static float Accumulate(float scale, float own, float other, float sum) {
    const float side = Saturate(formulas::MulAdd(own - other, 0x1p127F, 0.5F));
    return formulas::MulAdd(scale, formulas::MulAdd(2.0F, side, -1.0F), sum);
  }
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
