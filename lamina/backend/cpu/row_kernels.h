// The border between a layer prepared for single rows and its vector kernels. It has the layout of weights, and the
// entry points of every instruction set (row_kernels.cc).
#pragma once

#include <cstdint>

namespace lamina::cpu {

/// Inputs of RowTable::i8_products: 128 * 127 for each of them is below 2^31.
inline constexpr int64_t kMostByteInputs = int64_t{1} << 17;

/// Vectors of neurons whose sums stand in registers.
inline constexpr int64_t kRowVectors = 8;
/// Panels of fewer vectors would wait for the additions' latency: such layers are read neuron by neuron.
inline constexpr int64_t kLeastRowVectors = 4;
/// How many groups ahead memory is asked for where some are left out; a list of groups repeats its last one as often.
inline constexpr int64_t kGroupsAhead = 12;

/// z = W x of one row. Weights lie in one of two orders. Panels of neurons: panel, group of inputs, neuron, then its
/// weights of that group. Neuron by neuron: outputs × inputs.
struct RowTask {
  const void* weights = nullptr;
  int64_t inputs = 0;
  int64_t outputs = 0;
  const void* x = nullptr;          // in panels of groups of several: zeros up to a whole group
  const int32_t* groups = nullptr;  // those to be read, ascending; null: all
  int64_t count = 0;                // how many
  const float* scales = nullptr;    // of the neurons, a vector longer; null: 1
  void* sums = nullptr;             // outputs
  void* scratch = nullptr;          // RowKernel::scratch_bytes
};

/// Weights of one type in panels.
struct RowKernel {
  int64_t group = 1;  // inputs whose weights stand beside each other
  int64_t lanes = 1;  // neurons in a vector
  uint8_t flip = 0;   // of the bits of every element: 128 makes a signed byte one of 0 to 255
  void (*panels)(const RowTask&) noexcept = nullptr;  // null where an instruction set does not have it
  /// Bytes of scratch for each input of whole groups.
  int64_t scratch_bytes = 0;
};

/// Numbers of a row that are shifted and divided, `count` of each.
struct RowStandard {
  /// Scales whose reciprocal divides as exactly as they do; others are left to plain numbers.
  static constexpr double kLeastScale = 1e-280;
  static constexpr double kMostScale = 1e280;

  const double* offsets = nullptr;
  const double* scales = nullptr;
  const double* reciprocals = nullptr;  // of the scales, each the number nearest to it
  const double* fills = nullptr;        // in the place of a NaN
  int64_t count = 0;
};

/// Sums in f32, but for f64. The order of a sum is that of the inputs, whether groups are left out or not.
struct RowTable {
  const char* target;
  RowKernel f64;
  RowKernel f32;
  RowKernel bf16;
  RowKernel f16;
  RowKernel i8;
  /// Distances of exact weights, in the order l1, l2, l2 squared.
  RowKernel distances_f64[3];
  RowKernel distances_f32[3];
  RowKernel i8_products;  // needs InstructionSets::byte_products; x is rounded to 16 bits
  void (*bf16_neurons)(const RowTask&) noexcept;
  void (*f16_neurons)(const RowTask&) noexcept;
  void (*i8_neurons)(const RowTask&) noexcept;
  /// A bit for each of n numbers that is not zero, 64 a word; returns how many.
  int64_t (*mark_f64)(const double* x, int64_t n, uint64_t* bits) noexcept;
  int64_t (*mark_f32)(const float* x, int64_t n, uint64_t* bits) noexcept;
  /// out = (row - offset) / scale, rounded as these two operations are. Whether all are finite.
  bool (*standardize_f64)(const RowStandard& standard, const double* row, double* out) noexcept;
  bool (*standardize_f32)(const RowStandard& standard, const double* row, float* out) noexcept;
};

/// The kernels for the best instruction set of this CPU.
const RowTable& RowKernels();

/// Neurons [begin, end) of panel p of `panels`, in whole vectors but for the last.
struct RowPanel {
  int64_t begin;
  int64_t end;
};
inline int64_t RowPanels(int64_t outputs, int64_t lanes) {
  const int64_t vectors = (outputs + lanes - 1) / lanes;
  return (vectors + kRowVectors - 1) / kRowVectors;
}
inline RowPanel RowPanelAt(int64_t p, int64_t outputs, int64_t lanes) {
  const int64_t vectors = (outputs + lanes - 1) / lanes;
  const int64_t panels = RowPanels(outputs, lanes);
  const int64_t end = vectors * (p + 1) / panels * lanes;
  return {vectors * p / panels * lanes, end < outputs ? end : outputs};
}

}  // namespace lamina::cpu
