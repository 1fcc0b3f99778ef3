// z = W x of single rows: weights read once, widened in registers. Such a row waits for the memory that holds the
// weights. Several rows read them together.
#if defined(LAMINA_BACKEND_CPU_ROW_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ROW_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_ROW_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ROW_KERNELS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "lamina/backend/cpu/row_kernels.h"
#include "lamina/backend/cpu/row_panels-inl.h"
#include "lamina/backend/cpu/vec-inl.h"
#include "lamina/base/half.h"
#include "lamina/base/nan.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// Sums along the inputs of kOutputs neurons.
template <class Widen, int kOutputs>
HWY_NOINLINE void RowNeuronSums(const RowTask& task, const typename Widen::Element* w, const float* x, float* to) {
  using Element = typename Widen::Element;
  const Tag<float> d;
  VecOf<float> sums[kOutputs];
  HWY_UNROLL(8)
  for (int o = 0; o < kOutputs; ++o) {
    sums[o] = hn::Zero(d);
  }
  int64_t k = 0;
  for (; k + kLanes<float> <= task.inputs; k += kLanes<float>) {
    const auto xs = hn::LoadU(d, x + k);
    HWY_UNROLL(8)
    for (int o = 0; o < kOutputs; ++o) {
      sums[o] = hn::MulAdd(xs, Widen::Load(w + o * task.inputs + k), sums[o]);
    }
  }
  if (k < task.inputs) {
    const int64_t left = task.inputs - k;
    const auto xs = LoadTail<float>(x + k, left);
    HWY_UNROLL(8)
    for (int o = 0; o < kOutputs; ++o) {
      HWY_ALIGN Element tail[kLanes<float>] = {};
      std::memcpy(tail, w + o * task.inputs + k, static_cast<size_t>(left) * sizeof(Element));
      sums[o] = hn::MulAdd(xs, Widen::Load(tail), sums[o]);
    }
  }
  HWY_UNROLL(8)
  for (int o = 0; o < kOutputs; ++o) {
    to[o] = hn::GetLane(hn::SumOfLanes(d, sums[o]));
  }
}

template <class Widen>
void RowByNeurons(const RowTask& task) noexcept {
  constexpr int kAtOnce = 5;
  const auto* w = static_cast<const typename Widen::Element*>(task.weights);
  auto* const sums = static_cast<float*>(task.sums);
  for (int64_t o = 0; o < task.outputs;) {
    const bool several = o + kAtOnce <= task.outputs;
    for (int64_t row = 0; row < task.rows; ++row) {
      (several ? &RowNeuronSums<Widen, kAtOnce>
               : &RowNeuronSums<Widen, 1>)(task, w + o * task.inputs,
                                           static_cast<const float*>(task.x) + row * task.x_stride,
                                           sums + row * task.outputs + o);
    }
    o += several ? kAtOnce : 1;
  }
  for (int64_t i = 0; i < task.rows * task.outputs && task.scales != nullptr; ++i) {
    sums[i] *= task.scales[i % task.outputs];
  }
}

#if HWY_TARGET == HWY_AVX3
// Products of bytes, four a lane. x becomes 16 bits, 256 high + low with signed bytes; each part has a sum of its own.
// One operand is unsigned: the weights are bytes + 128, and sums begin at 128 times the sum of x. Both are exact, in
// numbers modulo 2^32: the sums themselves fit (kMostByteInputs).
inline constexpr float kLargestRowNumber = 32639;  // 127 * 256 + 127

struct RowBytes {
  const uint32_t* high;  // a group of 4 a lane
  const uint32_t* low;
  int32_t high_start;
  int32_t low_start;
  float scale;  // x = scale * number; NaN where x is not finite
  int64_t row = 0;
};

// Bytes of one of a row's parts, in whole vectors.
constexpr int64_t RowBytesPadded(int64_t count) { return (count + kLanes<float> - 1) / kLanes<float> * kLanes<float>; }

HWY_INLINE RowBytes RoundRow(const float* x, int64_t count, void* scratch) {
  const Tag<float> d;
  const Tag<int32_t> whole;
  const hn::Rebind<int8_t, Tag<float>> byte;
  auto largest = hn::Zero(d);
  auto finite = hn::Eq(largest, largest);
  const auto end = hn::Set(d, std::numeric_limits<float>::max());
  const auto load = [&](int64_t i) HWY_ATTR {
    return i + kLanes<float> <= count ? hn::LoadU(d, x + i) : LoadTail<float>(x + i, count - i);
  };
  for (int64_t i = 0; i < count; i += kLanes<float>) {
    const auto size = hn::Abs(load(i));
    finite = hn::And(finite, hn::Le(size, end));
    largest = hn::Max(largest, size);
  }
  auto* const high = static_cast<int8_t*>(scratch);
  int8_t* const low = high + RowBytesPadded(count);
  const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
  const float step = std::max(most / kLargestRowNumber, std::numeric_limits<float>::min());
  const auto per_step = hn::Set(d, 1 / step);
  auto high_sum = hn::Zero(whole);
  auto low_sum = hn::Zero(whole);
  for (int64_t i = 0; i < count; i += kLanes<float>) {
    const auto number = hn::NearestInt(hn::Mul(load(i), per_step));
    const auto lower = hn::ShiftRight<24>(hn::ShiftLeft<24>(number));
    const auto upper = hn::ShiftRight<8>(hn::Sub(number, lower));
    high_sum = hn::Add(high_sum, upper);
    low_sum = hn::Add(low_sum, lower);
    hn::StoreU(hn::DemoteTo(byte, upper), byte, high + i);
    hn::StoreU(hn::DemoteTo(byte, lower), byte, low + i);
  }
  const auto start = [](int32_t sum) { return static_cast<int32_t>(0U - 128U * static_cast<uint32_t>(sum)); };
  return {reinterpret_cast<const uint32_t*>(high), reinterpret_cast<const uint32_t*>(low),
          start(hn::GetLane(hn::SumOfLanes(whole, high_sum))), start(hn::GetLane(hn::SumOfLanes(whole, low_sum))),
          hn::AllTrue(d, finite) ? step : static_cast<float>(kNaN)};
}

HWY_INLINE VecOf<int32_t> AddByteProducts(VecOf<int32_t> sum, VecOf<uint32_t> weights, VecOf<uint32_t> x) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(weights.raw), "v"(x.raw));
  return sum;
}

template <int kVectors>
HWY_NOINLINE void RowByteSums(const RowTask& task, const RowBytes& x, const uint32_t* w, int64_t begin, int64_t count) {
  const int64_t row = x.row;
  const Tag<float> d;
  const Tag<int32_t> whole;
  const Tag<uint32_t> group;
  VecOf<int32_t> high[kVectors], low[kVectors];
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) {
    high[v] = hn::Set(whole, x.high_start);
    low[v] = hn::Set(whole, x.low_start);
  }
  ForGroups<kVectors * 64>(task.groups[row], w, count, [&](int64_t g, const uint32_t* at) HWY_ATTR {
    const auto upper = hn::Set(group, x.high[g]);
    const auto lower = hn::Set(group, x.low[g]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      const auto ws = hn::LoadU(group, at + v * kLanes<uint32_t>);
      high[v] = AddByteProducts(high[v], ws, upper);
      low[v] = AddByteProducts(low[v], ws, lower);
    }
  });
  VecOf<float> sums[kVectors];
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = hn::MulAdd(hn::ConvertTo(d, high[v]), hn::Set(d, 256.0F), hn::ConvertTo(d, low[v]));
  }
  StoreRowSums<kVectors, float>(task, row, begin, count, sums, x.scale);
}

inline void RowByByteProducts(const RowTask& task) noexcept {
  RowBytes bytes[kMostRows];
  const int64_t scratch_bytes = 2 * RowBytesPadded(task.inputs);
  for (int64_t row = 0; row < task.rows; ++row) {
    bytes[row] = RoundRow(static_cast<const float*>(task.x) + row * task.x_stride, task.inputs,
                          static_cast<char*>(task.scratch) + row * scratch_bytes);
    bytes[row].row = row;
  }
  ForRowPanels<uint32_t, !kFewRowPanels>(task, kLanes<float>, (task.inputs + 3) / 4,
                                         [&](auto vectors, const uint32_t* w, int64_t begin, int64_t count) HWY_ATTR {
                                           for (int64_t row = 0; row < task.rows; ++row) {
                                             RowByteSums<vectors.value>(task, bytes[row], w, begin, count);
                                           }
                                         });
}
#endif

template <class T>
int64_t MarkNumbers(const T* x, int64_t n, uint64_t* bits) noexcept {
  const Tag<T> d;
  const auto zero = hn::Zero(d);
  int64_t count = 0;
  for (int64_t begin = 0; begin < n; begin += 64) {
    uint64_t word = 0;
    const int64_t end = std::min<int64_t>(64, n - begin);
    for (int64_t i = 0; i < end; i += kLanes<T>) {
      const T* const at = x + begin + i;
      const auto numbers = i + kLanes<T> <= end ? hn::LoadU(d, at) : LoadTail<T>(at, end - i);
      uint8_t mask[8] = {};
      hn::StoreMaskBits(d, hn::Not(hn::Eq(numbers, zero)), mask);  // a NaN is a number that counts
      uint64_t some = 0;
      std::memcpy(&some, mask, sizeof(some));
      word |= some << i;
    }
    bits[begin / 64] = word;
    count += std::popcount(word);
  }
  return count;
}

// a / b, without a division, which takes as long as ten products. The reciprocal's product is off by a unit of
// rounding; with its exact remainder it rounds as a division does (Markstein, IBM J. Res. Dev. 34, 1990).
HWY_INLINE VecOf<double> Quotient(VecOf<double> a, VecOf<double> b, VecOf<double> reciprocal) {
#if HWY_NATIVE_FMA
  const auto near = hn::Mul(a, reciprocal);
  return hn::MulAdd(hn::NegMulAdd(near, b, a), reciprocal, near);
#else
  (void)reciprocal;
  return hn::Div(a, b);
#endif
}

template <class T>
bool StandardizeRow(const RowStandard& standard, const double* row, T* out) noexcept {
  const Tag<double> d;
  const hn::Rebind<T, Tag<double>> to;
  auto good = hn::Eq(hn::Zero(d), hn::Zero(d));
  // From here on an f32 is infinite; looked for in f64, for not every instruction set makes it so.
  constexpr double kMost = sizeof(T) == sizeof(double) ? std::numeric_limits<double>::infinity() : 0x1.ffffffp127;
  const auto most = hn::Set(d, kMost);
  const auto encode = [&](int64_t i, const auto& load) HWY_ATTR {
    const auto raw = load(row + i);
    const auto value = hn::IfThenElse(hn::Eq(raw, raw), raw, load(standard.fills + i));
    const auto shifted = hn::Sub(value, load(standard.offsets + i));
    const auto quotient = Quotient(shifted, load(standard.scales + i), load(standard.reciprocals + i));
    good = hn::And(good, hn::Lt(hn::Abs(quotient), most));
    if constexpr (sizeof(T) == sizeof(double)) {
      return quotient;
    } else {
      return hn::DemoteTo(to, quotient);
    }
  };
  int64_t i = 0;
  for (; i + kLanes<double> <= standard.count; i += kLanes<double>) {
    const auto encoded = encode(i, [&](const double* p) HWY_ATTR { return hn::LoadU(d, p); });
    hn::StoreU(encoded, to, out + i);
  }
  if (i < standard.count) {
    const int64_t left = standard.count - i;
    const auto some = hn::FirstN(d, static_cast<size_t>(left));
    const auto encoded = encode(i, [&](const double* p) HWY_ATTR {
      return hn::IfThenElse(some, LoadTail<double>(p, left), hn::Set(d, 1.0));  // 0 over 1 behind the end
    });
    HWY_ALIGN T lanes[kLanes<double>];
    hn::Store(encoded, to, lanes);
    std::copy_n(lanes, left, out + i);
  }
  return hn::AllTrue(d, good);
}

template <class Weights>
RowKernel RowKernelOf() {
  return {Weights::kGroup, kLanes<typename Weights::Number>, 0, &RowInPanels<Weights>, 0, kInTilesOfRows<Weights>};
}

inline const RowTable& RowTableOfTarget() {
  static const RowTable kTable = [] {
    RowTable table{};
    table.target = hwy::TargetName(HWY_TARGET);
    table.f64 = RowKernelOf<RowWeightsAsTheyAre<double>>();
    table.f32 = RowKernelOf<RowWeightsAsTheyAre<float>>();
    const auto distances = [](auto zero, RowKernel* kernels) {
      using T = decltype(zero);
      kernels[0] = RowKernelOf<RowDistances<T, false>>();
      kernels[1] = RowKernelOf<RowDistances<T, true, true>>();
      kernels[2] = RowKernelOf<RowDistances<T, true>>();
    };
    distances(double(), table.distances_f64);
    distances(float(), table.distances_f32);
    table.bf16 = RowKernelOf<RowWeightsBF16>();
    table.f16 = RowKernelOf<RowWeightsWidened<WidenF16>>();
    table.i8 = RowKernelOf<RowWeightsWidened<WidenI8>>();
#if HWY_TARGET == HWY_AVX3
    table.i8_products = {4, kLanes<float>, 0x80, &RowByByteProducts, 2};
#endif
    table.f64_lists = &RowInLists<double>;
    table.f32_lists = &RowInLists<float>;
    table.bf16_neurons = &RowByNeurons<WidenBF16>;
    table.f16_neurons = &RowByNeurons<WidenF16>;
    table.i8_neurons = &RowByNeurons<WidenI8>;
    table.mark_f64 = &MarkNumbers<double>;
    table.mark_f32 = &MarkNumbers<float>;
    table.standardize_f64 = &StandardizeRow<double>;
    table.standardize_f32 = &StandardizeRow<float>;
    return table;
  }();
  return kTable;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
