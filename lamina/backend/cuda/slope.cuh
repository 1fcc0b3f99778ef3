// Slopes of synapses in the gradients' sums.
#pragma once

#include "lamina/backend/cuda/language.h"
#include "lamina/neuron/formulas.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// The slope of a term as the GPU adds it up best.
template <class Term, class S>
struct Slope {
  static constexpr bool kByTotal = false;
  __device__ static S Accumulate(S scale, S own, S other, S sum) {
    return Term::AccumulateSlope(scale, own, other, sum);
  }
};

/// The sign of a difference without comparisons, which go at half the rate: 0, 1/2 or 1 of a saturated product, doubled
/// and moved by 1, all on the multiplier's pipe. The tile doubles and moves whole sums: three instructions a synapse
/// instead of four, and one for the total of the scales. Numbers closer than 2^-127 count as equal in part. A NaN has
/// the sign -1 (the loss is NaN all the same). docs/decisions/0009.
template <>
struct Slope<formulas::AbsoluteDifferenceTerm, float> {
  static constexpr bool kByTotal = true;
  __device__ static float Accumulate(float scale, float own, float other, float sum) {
    return formulas::MulAdd(scale, formulas::MulAdd(2.0F, Side(own, other), -1.0F), sum);
  }
  /// A sum of scales times sides, which Finish() makes that of scales times signs.
  __device__ static float AccumulateSide(float scale, float own, float other, float sum) {
    return formulas::MulAdd(scale, Side(own, other), sum);
  }
  __device__ static float Finish(float sum, float total) { return formulas::MulAdd(2.0F, sum, -total); }

 private:
  __device__ static float Side(float own, float other) {
    return Saturate(formulas::MulAdd(own - other, 0x1p127F, 0.5F));
  }
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
