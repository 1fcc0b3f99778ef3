// How a layer is cut into slices that fit a memory budget (2017 paper, section II).
#pragma once

#include <cstdint>

#include "lamina/neuron/problem.h"

namespace lamina {

/// Slices of `samples` × `neurons`; the last ones of either direction are shorter where the layer is no multiple.
struct SlicePlan {
  int64_t batch = 0;
  int64_t outputs = 0;
  int64_t samples = 0;
  int64_t neurons = 0;
  int64_t slice_bytes = 0;  // SliceBytes of a whole slice

  int64_t sample_slices() const { return samples == 0 ? 0 : (batch + samples - 1) / samples; }
  int64_t neuron_slices() const { return neurons == 0 ? 0 : (outputs + neurons - 1) / neurons; }
  int64_t count() const { return sample_slices() * neuron_slices(); }
};

struct SliceOptions {
  int64_t budget_bytes = 0;    // for a slice and what is reserved
  int64_t reserved_bytes = 0;  // needed whatever the slices
  double asymmetry = 1;        // As: a slice has M As samples and M / As neurons
  int64_t samples = 0;         // of a slice; 0: by the budget
  int64_t neurons = 0;         // of a slice; 0: by the budget
};

/// Eq. (4) of the paper with the sizes of the types: inputs × neurons weights and samples × inputs rows of `dtype`,
/// samples × neurons results of OutputType(dtype). 2^63 - 1 where it is more than that.
int64_t SliceBytes(const LayerSpec& layer, DType dtype, int64_t samples, int64_t neurons);

/// The largest power of two M whose slice fits the budget, as in the paper: 8000 neurons on 10000 samples become 2 x 3
/// slices of 4096 x 4096. A slice has at least 48 samples and 16 neurons (a register tile) and at most the layer's.
/// With softmax it has all neurons. Throws Error(kInvalidArgument) for options out of range. Throws Error(kResource),
/// naming the least needed, where the budget does not hold one slice.
SlicePlan PlanSlices(const LayerSpec& layer, int64_t batch, DType dtype, const SliceOptions& options);

/// Most (three quarters) of the memory that is free now, within the limit of the control group.
int64_t DefaultBudget_bytes();

}  // namespace lamina
