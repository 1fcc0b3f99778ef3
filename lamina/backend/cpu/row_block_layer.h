// The border between a network computed by blocks of rows and its vector kernels. Lanes are samples: a value of all
// rows of a block stands side by side. Every array here is thus features × `stride` rows.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "lamina/backend/cpu/kernels.h"

namespace lamina::cpu {

/// The rows of a block. Those that fill up the last vector are the last row again, and count nowhere.
struct BlockOfRows {
  int64_t begin = 0;   // the first sample
  int64_t rows = 0;    // that count
  int64_t stride = 0;  // whole vectors of them
  bool first = false;  // of its group: the sums of gradients begin
};

/// A layer for a block of rows.
template <class T>
struct RowBlockLayer {
  int64_t inputs = 0;
  int64_t outputs = 0;
  const Activation* activation = nullptr;
  const T* weights = nullptr;  // outputs × inputs; rounded where the operands of products are, as x and `scaled`
  const T* bias = nullptr;     // outputs; null for a layer without
  const T* x = nullptr;        // inputs × stride
  T* a = nullptr;              // outputs × stride, as all that follow
  T* z = nullptr;              // only where the slope reads it; of built-in activations the slope itself
  T* distance = nullptr;       // only where the synapse needs it
  T* delta = nullptr;
  T* scaled = nullptr;  // the delta as the gradients of such a synapse take it, or rounded; else null
  // The sums of a group: of the weights' gradient outputs × inputs vectors, each over its lane, and outputs vectors for
  // the bias. With `rows`, those of the weights are numbers.
  T* sums = nullptr;
  T* bias_sums = nullptr;
  T* rows = nullptr;       // x as rows of the block × row_stride: for the gradient of many weights; else null
  int64_t row_stride = 0;  // whole vectors
};

/// Columns of a matrix turned to features × stride, and to `rows` as they are where that is not null.
template <class T>
struct RowBlockGather {
  const T* from = nullptr;  // rows × columns
  int64_t from_stride = 0;
  const int64_t* order = nullptr;  // sample i is row order[i]; null: row i
  int64_t columns = 0;
  T* rows = nullptr;
  int64_t row_stride = 0;
};

/// The loss of a block: what LossArgs says, turned.
template <class T>
struct RowBlockLoss {
  const LossArgs* args = nullptr;     // loss, thresholds, smoothing
  const T* targets = nullptr;         // outputs × stride
  const T* sample_weights = nullptr;  // a row; null for ones
  T mean = 1;                         // 1 / samples of the step
};

/// The gradient of parameters [at, at + count) in every group; the groups are added up in their order.
template <class T>
struct GroupGradients {
  const T* first = nullptr;  // of group 0
  int64_t groups = 1;
  int64_t stride = 0;  // from a group to the next
  int64_t at = 0;
  int64_t count = 0;
};

/// The passes of one synapse.
template <class T>
struct RowBlockPasses {
  void (*forward)(const RowBlockLayer<T>&, const BlockOfRows&) noexcept;
  /// `scaled`, where the synapse has that, and the sums of this layer's gradients. Where x is of another layer: `rows`.
  void (*gradient)(const RowBlockLayer<T>&, const BlockOfRows&, bool turn) noexcept;
  /// The delta of `before`, its slope included. After gradient().
  void (*back)(const RowBlockLayer<T>&, const RowBlockLayer<T>& before, const BlockOfRows&) noexcept;
};

template <class T>
struct RowBlockTable {
  const char* target;
  int64_t lanes;
  int64_t tile_vectors;  // blocks of a multiple of these vectors leave no tile half empty
  void (*gather)(const RowBlockGather<T>&, const BlockOfRows&, T* to) noexcept;
  /// The delta of the output layer; the sums over the rows but those of weights.
  LossSums (*loss)(const RowBlockLoss<T>&, const RowBlockLayer<T>& output, const BlockOfRows&) noexcept;
  /// out[i] = the sum of the lanes of vector i. count is a multiple of the lanes.
  void (*reduce)(const T* sums, int64_t count, T* out) noexcept;
  /// Parameters follow the sums of the groups by the rule.
  void (*update)(const UpdateRule& rule, const UpdateNumbers<T>& numbers, const GroupGradients<T>& gradients,
                 const ParameterArrays& to) noexcept;
  std::array<RowBlockPasses<T>, std::tuple_size_v<formulas::Synapses>> synapses;
  /// `count` numbers to bf16, back in T; in place or not. Null for types that have no products of lower precision.
  void (*round)(const T* from, int64_t count, T* to) noexcept = nullptr;
};

/// The kernels for the best instruction set of this CPU.
template <class T>
const RowBlockTable<T>& RowBlockKernels();
template <>
const RowBlockTable<float>& RowBlockKernels<float>();
template <>
const RowBlockTable<double>& RowBlockKernels<double>();

}  // namespace lamina::cpu
