// Passes of dot layers in f32 with bf16 operands: the blocked product over pairs that are rounded while they are
// packed.
#if defined(LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_
#endif

#include "lamina/backend/cpu/encode-inl.h"
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// 16 floats to bf16, to nearest even; denormals to 0, as in the products.
HWY_INLINE __m256i ToBFloat16(VecOf<float> v) {
  __m256i half;
  asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(v.raw));
  return half;
}

/// Neighbours along a row to the halves of a lane.
inline void EncodeFloatPairs(const void* from, int64_t count, float* to, int64_t lanes) {
  const auto* source = static_cast<const float*>(from);
  const Tag<float> d;
  auto* halves = reinterpret_cast<uint16_t*>(to);
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(halves + i), ToBFloat16(hn::LoadU(d, source + i)));
  }
  if (i < count) {
    HWY_ALIGN uint16_t tail[kLanes<float>];
    _mm256_store_si256(reinterpret_cast<__m256i*>(tail), ToBFloat16(LoadTail<float>(source + i, count - i)));
    std::memcpy(halves + i, tail, static_cast<size_t>(count - i) * sizeof(uint16_t));
  }
  std::fill(halves + count, halves + 2 * lanes, uint16_t{0});
}

/// The same of two rows one above the other.
inline void InterleaveFloatPairs(const void* first, const void* second, int64_t count, float* to) {
  const Tag<float> d;
  const auto* upper = static_cast<const float*>(second);
  const auto both = [&](VecOf<float> a, VecOf<float> b) HWY_ATTR {
    const __m512i low = _mm512_cvtepu16_epi32(ToBFloat16(a));
    const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(ToBFloat16(b)), 16);
    return VecOf<float>{_mm512_castsi512_ps(_mm512_or_si512(low, high))};
  };
  if (upper == nullptr) {
    Transform<float>(
        count, to, [&](VecOf<float> a) HWY_ATTR { return both(a, hn::Zero(d)); }, static_cast<const float*>(first));
  } else {
    Transform<float>(count, to, both, static_cast<const float*>(first), upper);
  }
}

inline Encoding<float> FloatPairs(int64_t length) {
  return {&EncodeFloatPairs, sizeof(float), 2, false, length, &InterleaveFloatPairs};
}

inline void ForwardMixed(const ForwardTask<float>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const Encoding<float> pairs = FloatPairs(args.x.cols);
  const ProductInput<float> input{
      {static_cast<const float*>(args.weights.data), args.weights.rows, args.weights.stride, 1, &pairs},
      {static_cast<const float*>(args.x.data), args.x.rows, args.x.stride, 1, &pairs},
      CeilDivide(args.x.cols, 2),
      task.scratch,
      task.budget};
  const ForwardFinish<formulas::DotSynapse, float> finish{&args, task.activation, ValueFor<float>(*task.activation)};
  Product<BFloat16PairSum>(input, finish, team);
  if (task.activation->is_softmax()) {
    team.Barrier();
    SoftmaxRows<float>(*task.activation, args.z, args.a, team.Begin(args.a.rows), team.End(args.a.rows));
  }
}

inline void InputGradientMixed(const InputGradientTask<float>& task, Team team) noexcept {
  const InputGradientArgs& args = *task.args;
  const Encoding<float> pairs = FloatPairs(args.delta.cols);
  const ProductInput<float> input{
      {static_cast<const float*>(args.delta.data), args.delta.rows, args.delta.stride, 1, &pairs},
      {static_cast<const float*>(args.weights.data), args.weights.cols, 1, args.weights.stride, &pairs},
      CeilDivide(args.delta.cols, 2),
      task.scratch,
      task.budget};
  const SlopeFinish<float> finish{&args, args.previous == nullptr ? nullptr : SlopeFor<float>(args.previous)};
  Product<BFloat16PairSum>(input, finish, team);
}

inline void WeightGradientMixed(const WeightGradientTask<float>& task, Team team) noexcept {
  const WeightGradientArgs& args = *task.args;
  const int64_t outputs = args.delta.cols;
  const int64_t inputs = args.x.cols;
  const Encoding<float> pairs = FloatPairs(args.x.rows);
  const ProductInput<float> input{{static_cast<const float*>(args.delta.data), outputs, 1, args.delta.stride, &pairs},
                                  {static_cast<const float*>(args.x.data), inputs, 1, args.x.stride, &pairs},
                                  CeilDivide(args.x.rows, 2),
                                  task.scratch,
                                  task.budget};
  const UpdateFinish<float> finish{&args.weights, &task.weight_update, UpdateFor<float>(args.rule), inputs};
  Product<BFloat16PairSum>(input, finish, team);
  if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
    BiasGradient(task, team.Begin(outputs), team.End(outputs));
  }
}

inline MixedKernels MixedTable() { return {&ForwardMixed, &InputGradientMixed, &WeightGradientMixed}; }
#else
inline MixedKernels MixedTable() { return {}; }
#endif

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
