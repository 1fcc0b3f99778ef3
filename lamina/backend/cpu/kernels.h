// The border between the cpu backend and its vector kernels. It has tasks as plain values, and the table of entry
// points that every instruction set fills (kernels_f32.cc, kernels_f64.cc).
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/blocking.h"
#include "lamina/backend/cpu/team.h"
#include "lamina/backend/reductions.h"

namespace lamina::cpu {

/// Memory for packed operands and partial sums, see ScratchSizes, and for a scaled delta (batch × outputs) or the
/// corrections of sums (outputs + batch). 64-byte aligned.
template <class T>
struct Scratch {
  T* rows = nullptr;
  T* columns = nullptr;
  T* partial = nullptr;
  T* rest = nullptr;
  int32_t* picks = nullptr;  // null: zeros are not looked for
};

/// How a row of a storage type becomes lanes of T in a panel.
template <class T>
struct Encoding {
  /// `count` elements at `from` to `lanes` lanes, zeros after them.
  void (*encode)(const void* from, int64_t count, T* to, int64_t lanes) = nullptr;
  int64_t element_bytes = 0;
  int64_t group = 1;       // elements in a lane
  bool same_bits = false;  // lanes are just neighboring elements
  int64_t length = 0;      // elements in a row
  /// Where the sum runs across rows: `count` lanes, each of neighbors from two rows; the second may be null for zeros.
  void (*interleave)(const void* first, const void* second, int64_t count, T* to) = nullptr;
};

/// The operands of a forward pass in a storage type of their own.
template <class T>
struct EncodedOperands {
  Encoding<T> weights;
  Encoding<T> x;
  int64_t lanes = 0;              // of a row
  bool weights_in_place = false;  // read as lanes where they are
};

template <class T>
struct ForwardTask {
  const ForwardArgs* args;
  const Activation* activation;
  Scratch<T> scratch;
  CacheBudget budget;
  const EncodedOperands<T>* encoded = nullptr;  // null: x and weights are of T themselves
  const MatrixView* slopes = nullptr;           // where they are kept (keeps_slopes.h)
};

template <class T>
struct InputGradientTask {
  const InputGradientArgs* args;
  Scratch<T> scratch;
  CacheBudget budget;
  const ConstMatrixView* slopes = nullptr;  // those that were kept, instead of an activation
};

template <class T>
struct WeightGradientTask {
  const WeightGradientArgs* args;
  UpdateNumbers<T> weight_update;
  UpdateNumbers<T> bias_update;
  Scratch<T> scratch;
  CacheBudget budget;
};

template <class T>
struct NearTask {
  const NearArgs* args;
  Scratch<T> scratch;
  CacheBudget budget;
};

/// Rows [begin, end) of the lower triangle of h'h, by one thread.
template <class T>
struct GramTask {
  const ConstMatrixView* h;
  const MatrixView* gram;
  int64_t begin;
  int64_t end;
  Scratch<T> scratch;
  CacheBudget budget;
};

/// Independent sums of RegisterSums() in registers-inl.h.
inline constexpr int64_t kRegisterSums = 12;

/// The passes of one synapse. Whole-team calls: every thread of the team makes them with the same task.
template <class T>
struct SynapseKernels {
  /// Blocked product over packed panels.
  void (*forward)(const ForwardTask<T>&, Team) noexcept;
  /// Sums along the inputs, nothing packed: few samples or few outputs.
  void (*forward_dots)(const ForwardTask<T>&, Team) noexcept;
  void (*input_gradient)(const InputGradientTask<T>&, Team) noexcept;
  void (*weight_gradient)(const WeightGradientTask<T>&, Team) noexcept;
  /// NearSearch::Search(), not a team call.
  void (*near)(const NearTask<T>&) noexcept;
  /// The arithmetic of forward in registers, not a team call.
  T (*registers)(int64_t rounds, T start);
};

/// How the sums of a forward pass are computed where not in the storage type itself.
enum class Method {
  kWide,   // each element widened to a lane: halves to f32, integers to i32 or i64
  kPairs,  // two 16-bit numbers a lane of 32; of bf16: needs InstructionSets::bf16_products
  kQuads,  // four bytes a lane of 32: needs InstructionSets::byte_products
  kSad,    // eight bytes a lane of 64, absolute differences
  kFast,   // Precision::kFast
};

/// A forward pass by some method; `forward` is null where an instruction set does not have it.
template <class T>
struct GroupKernel {
  void (*forward)(const ForwardTask<T>&, Team) noexcept = nullptr;
  T (*registers)(int64_t rounds, T start) = nullptr;  // the arithmetic of forward in registers
  Encoding<T> weights;
  Encoding<T> x;
};

/// Forward passes over lanes of T (float, double, int32_t, int64_t) for the other storage types.
template <class T>
struct GroupTable {
  const char* target;
  TileShape shape;
  GroupKernel<T> (*find)(Synapse, DType, Method);
};

template <class T>
const GroupTable<T>& GroupKernels();
template <>
const GroupTable<float>& GroupKernels<float>();
template <>
const GroupTable<double>& GroupKernels<double>();
template <>
const GroupTable<int32_t>& GroupKernels<int32_t>();
template <>
const GroupTable<int64_t>& GroupKernels<int64_t>();

/// The passes of dot layers in f32 whose operands are rounded to bf16. Whole-team calls.
struct BFloat16Passes {
  void (*forward)(const ForwardTask<float>&, Team) noexcept = nullptr;
  void (*input_gradient)(const InputGradientTask<float>&, Team) noexcept = nullptr;
  void (*weight_gradient)(const WeightGradientTask<float>&, Team) noexcept = nullptr;
  void (*gram)(const GramTask<float>&) noexcept = nullptr;  // not a team call
};
struct BFloat16Table {
  BFloat16Passes pairs;    // two products by one instruction; null where an instruction set does not have it
  BFloat16Passes widened;  // rounded, then as f32
};
const BFloat16Table& BFloat16Kernels();

/// The kernels of one instruction set.
template <class T>
struct KernelTable {
  const char* target;
  TileShape shape;          // of forward; gradients of distances have fewer rows
  TileShape picking_shape;  // where zeros are left out
  std::array<SynapseKernels<T>, std::tuple_size_v<formulas::Synapses>> synapses;
  void (*gram)(const GramTask<T>&) noexcept;  // not a team call
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
