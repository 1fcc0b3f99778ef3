// The border between a small network and its vector kernels: a layer with everything it needs as plain values.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "lamina/backend/cpu/kernels.h"

namespace lamina::cpu {

/// A layer of a small network. Weights are kept as they are (outputs × inputs) or turned (inputs × outputs), rows
/// padded to whole vectors with zeros; rows of a batch are padded, too, and what stands there is of no consequence.
template <class T>
struct SmallLayer {
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool turned = false;
  int64_t stride = 0;        // of the weights
  int64_t x_stride = 0;      // of the inputs
  int64_t batch_stride = 0;  // of a, z, distance and delta
  T* a = nullptr;
  T* z = nullptr;         // only where the slope reads it
  T* distance = nullptr;  // only where the synapse needs it
  T* delta = nullptr;
  T* scaled = nullptr;  // room for a scaled delta
  ParameterArrays weights;
  ParameterArrays bias;  // padded; all null for a layer without
  const Activation* activation = nullptr;
};

/// What a step gives every layer.
template <class T>
struct SmallStep {
  int64_t batch = 0;
  const UpdateRule* rule = nullptr;
  UpdateNumbers<T> weight_update;
  UpdateNumbers<T> bias_update;
};

/// The passes of one synapse, on one thread.
template <class T>
struct SmallPasses {
  void (*forward)(const SmallLayer<T>&, const T* x, int64_t batch) noexcept;
  /// The delta of `before`, its slope included.
  void (*input_gradient)(const SmallLayer<T>&, const SmallLayer<T>& before, int64_t batch) noexcept;
  void (*weight_gradient)(const SmallLayer<T>&, const T* x, const SmallStep<T>&) noexcept;
};

template <class T>
struct SmallTable {
  const char* target;
  int64_t lanes;
  std::array<SmallPasses<T>, std::tuple_size_v<formulas::Synapses>> synapses;
};

/// The kernels for the best instruction set of this CPU.
template <class T>
const SmallTable<T>& SmallKernels();
template <>
const SmallTable<float>& SmallKernels<float>();
template <>
const SmallTable<double>& SmallKernels<double>();

}  // namespace lamina::cpu
