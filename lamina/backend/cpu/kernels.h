// The border between the cpu backend and its vector kernels: tasks as plain values, and the table of entry
// points that every instruction set fills (kernels_f32.cc, kernels_f64.cc).
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/blocking.h"

namespace lamina::cpu {

/// One thread of those that run a task together; all of them call the same entry point.
struct Team {
  int thread = 0;
  int size = 1;

  void Barrier() const noexcept {
    if (size > 1) {
#pragma omp barrier
    }
  }
  /// This thread's part of [0, count).
  int64_t Begin(int64_t count) const { return count * thread / size; }
  int64_t End(int64_t count) const { return count * (thread + 1) / size; }
};

/// Memory for packed operands and partial sums, see ScratchSizes, and for a scaled delta (batch × outputs). 64-byte
/// aligned.
template <class T>
struct Scratch {
  T* rows = nullptr;
  T* columns = nullptr;
  T* partial = nullptr;
  T* delta = nullptr;  // only where SynapseScalesDelta()
};

/// The constants of an UpdateRule in the element type, worked out once per call.
template <class T>
struct UpdateConstants {
  T eta, alpha, lambda;
  T beta1, beta2, rest1, rest2, rate, root, epsilon;  // Adam; rest is 1 - beta
};

template <class T>
struct ForwardTask {
  const ForwardArgs* args;
  const Activation* activation;
  Scratch<T> scratch;
  CacheBudget budget;
};

template <class T>
struct InputGradientTask {
  const InputGradientArgs* args;
  Scratch<T> scratch;
  CacheBudget budget;
};

template <class T>
struct WeightGradientTask {
  const WeightGradientArgs* args;
  UpdateConstants<T> weight_update;
  UpdateConstants<T> bias_update;
  Scratch<T> scratch;
  CacheBudget budget;
};

/// The passes of one synapse. Whole-team calls: every thread of the team makes them with the same task.
template <class T>
struct SynapseKernels {
  /// Blocked product over packed panels.
  void (*forward)(const ForwardTask<T>&, Team) noexcept;
  /// Sums along the inputs, nothing packed: few samples or few outputs.
  void (*forward_dots)(const ForwardTask<T>&, Team) noexcept;
  void (*input_gradient)(const InputGradientTask<T>&, Team) noexcept;
  void (*weight_gradient)(const WeightGradientTask<T>&, Team) noexcept;
};

/// The kernels of one instruction set.
template <class T>
struct KernelTable {
  const char* target;
  TileShape shape;  // of forward; gradients of distances have fewer rows
  std::array<SynapseKernels<T>, std::tuple_size_v<formulas::Synapses>> synapses;
  // The parts around a dot product that somebody else computed; whole-team calls, too.
  /// z += bias (null: none), then a = activation(z); an empty z stands for a itself.
  void (*activate)(const ForwardTask<T>&, Team) noexcept;
  /// out *= slope of the layer before.
  void (*multiply_slope)(const InputGradientTask<T>&, Team) noexcept;
  /// Follows the rule with the gradients in args.weights.gradient; computes and uses the bias gradient.
  void (*update)(const WeightGradientTask<T>&, Team) noexcept;
};

/// The kernels for the best instruction set of this CPU.
template <class T>
const KernelTable<T>& Kernels();
template <>
const KernelTable<float>& Kernels<float>();
template <>
const KernelTable<double>& Kernels<double>();

}  // namespace lamina::cpu
