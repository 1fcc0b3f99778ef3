// The border between a layer prepared for single rows and its vector kernels: the entry points that every instruction
// set fills (row_kernels.cc).
#pragma once

#include <cstdint>

#include "lamina/backend/cpu/row_task.h"

namespace lamina::cpu {

/// Inputs of RowTable::i8_products: 128 * 127 for each of them is below 2^31.
inline constexpr int64_t kMostByteInputs = int64_t{1} << 17;

/// Weights of one type in panels.
struct RowKernel {
  int64_t group = 1;  // inputs whose weights stand beside each other
  int64_t lanes = 1;  // neurons in a vector
  uint8_t flip = 0;   // of the bits of every element: 128 makes a signed byte one of 0 to 255
  void (*panels)(const RowTask&) noexcept = nullptr;  // null where an instruction set does not have it
  /// Bytes of scratch for each input of whole groups, and each row.
  int64_t scratch_bytes = 0;
  bool in_tiles = false;  // of rows: RowTask::tile_rows may be above 1
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
  void (*f64_lists)(const RowTask&) noexcept;
  void (*f32_lists)(const RowTask&) noexcept;
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

}  // namespace lamina::cpu
