// Numbers of f32 as pairs of bf16 in a lane, rounded by the processor: operands of the instructions that multiply such.
#if defined(LAMINA_BACKEND_CPU_BF16_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_BF16_PAIRS_INL_H_
#undef LAMINA_BACKEND_CPU_BF16_PAIRS_INL_H_
#else
#define LAMINA_BACKEND_CPU_BF16_PAIRS_INL_H_
#endif

#include "lamina/backend/cpu/encode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// 16 floats to bf16, to nearest even; denormals to 0, as in the products.
HWY_INLINE __m256i ToBFloat16(VecOf<float> v) {
  __m256i half;
  asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(v.raw));
  return half;
}

/// Back to f32.
HWY_INLINE VecOf<float> Widened(__m256i halves) {
  return VecOf<float>{_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
}

/// Part kPart of v as a sum of bf16 numbers: v rounded, what that leaves out of v rounded, and so on.
template <int kPart>
HWY_INLINE __m256i PartOf(VecOf<float> v) {
  if constexpr (kPart == 0) {
    return ToBFloat16(v);
  } else {
    return PartOf<kPart - 1>(hn::Sub(v, Widened(ToBFloat16(v))));
  }
}

/// Neighbors along a row to the halves of a lane.
template <int kPart = 0>
void EncodeFloatPairs(const void* from, int64_t count, float* to, int64_t lanes) {
  const auto* source = static_cast<const float*>(from);
  const Tag<float> d;
  auto* halves = reinterpret_cast<uint16_t*>(to);
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(halves + i), PartOf<kPart>(hn::LoadU(d, source + i)));
  }
  if (i < count) {
    HWY_ALIGN uint16_t tail[kLanes<float>];
    _mm256_store_si256(reinterpret_cast<__m256i*>(tail), PartOf<kPart>(LoadTail<float>(source + i, count - i)));
    std::memcpy(halves + i, tail, static_cast<size_t>(count - i) * sizeof(uint16_t));
  }
  std::fill(halves + count, halves + 2 * lanes, uint16_t{0});
}

/// The same of numbers of f16.
template <int kPart>
void EncodeHalfPairs(const void* from, int64_t count, float* to, int64_t lanes) {
  constexpr int64_t kAtOnce = 128;
  const auto* source = static_cast<const Float16*>(from);
  HWY_ALIGN float wide[kAtOnce];
  do {
    const int64_t here = std::min(kAtOnce, count);
    EncodeHalves<Float16>(source, here, wide, here);
    const int64_t lanes_here = here < count ? here / 2 : lanes;
    EncodeFloatPairs<kPart>(wide, here, to, lanes_here);
    source += here;
    count -= here;
    to += lanes_here;
    lanes -= lanes_here;
  } while (count > 0);
}

/// Floats of two rows one above the other.
template <int kPart = 0>
void InterleaveFloatPairs(const void* first, const void* second, int64_t count, float* to) {
  const Tag<float> d;
  const auto* upper = static_cast<const float*>(second);
  const auto both = [&](VecOf<float> a, VecOf<float> b) HWY_ATTR {
    const __m512i low = _mm512_cvtepu16_epi32(PartOf<kPart>(a));
    const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(PartOf<kPart>(b)), 16);
    return VecOf<float>{_mm512_castsi512_ps(_mm512_or_si512(low, high))};
  };
  if (upper == nullptr) {
    Transform<float>(
        count, to, [&](VecOf<float> a) HWY_ATTR { return both(a, hn::Zero(d)); }, static_cast<const float*>(first));
  } else {
    Transform<float>(count, to, both, static_cast<const float*>(first), upper);
  }
}

/// Operands whose products one instruction sums in pairs.
struct PairedOperands {
  using Sum = BFloat16PairSum;
  static Encoding<float> Encode(int64_t length) {
    return {&EncodeFloatPairs<>, sizeof(float), 2, false, length, &InterleaveFloatPairs<>};
  }
};
#endif

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
