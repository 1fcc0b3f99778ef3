// The passes of dot layers on AMX tiles, as a table of entry points like that of kernels.h.
#pragma once

#include "lamina/backend/cpu/kernels.h"

namespace lamina::cpu {

/// A tile has 16 rows of 16 lanes of 32 bits.
inline constexpr int64_t kAmxSide = 16;
/// A block of sums is 2 x 2 tiles; kAmxSide lanes of the sum are taken at once.
inline constexpr TileShape kAmxShape{.rows = kAmxSide, .vectors = 2, .lanes = kAmxSide};

/// The passes in f32. Whole-team calls.
struct AmxPasses {
  void (*forward)(const ForwardTask<float>&, Team) noexcept = nullptr;
  void (*input_gradient)(const InputGradientTask<float>&, Team) noexcept = nullptr;
  void (*weight_gradient)(const WeightGradientTask<float>&, Team) noexcept = nullptr;
  int64_t parts = 0;  // bf16 numbers that stand for one of f32: scratch holds each
};

/// What the instruction set of this CPU has of it: null members where it has none. Tiles must be permitted
/// (instruction_sets.h) when they are called.
struct AmxTable {
  AmxPasses rounded;  // operands rounded to bf16
  AmxPasses split;    // operands as two bf16 each, three products
  AmxPasses whole;    // operands as three bf16 each, six products
  // Forward passes on operands stored in these types; EncodedOperands are not read. f16: two bf16 each, four products.
  void (*forward_bf16)(const ForwardTask<float>&, Team) noexcept = nullptr;
  void (*forward_f16)(const ForwardTask<float>&, Team) noexcept = nullptr;
  int64_t f16_parts = 0;
  void (*forward_i8)(const ForwardTask<int32_t>&, Team) noexcept = nullptr;
  void (*forward_u8)(const ForwardTask<int32_t>&, Team) noexcept = nullptr;
};
const AmxTable& AmxKernels();

}  // namespace lamina::cpu
