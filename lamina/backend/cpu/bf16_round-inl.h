// Numbers of f32 rounded to bf16, back in f32: operands that any multiplication takes.
#if defined(LAMINA_BACKEND_CPU_BF16_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_BF16_ROUND_INL_H_
#undef LAMINA_BACKEND_CPU_BF16_ROUND_INL_H_
#else
#define LAMINA_BACKEND_CPU_BF16_ROUND_INL_H_
#endif

#include "lamina/backend/cpu/vec_base-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// To nearest even, back in f32; a NaN stays one.
HWY_INLINE VecOf<float> RoundToBFloat16(VecOf<float> v) {
  const Tag<uint32_t> bits;
  const auto b = hn::BitCast(bits, v);
  const auto odd = hn::And(hn::ShiftRight<16>(b), hn::Set(bits, 1));
  const auto rounded = hn::BitCast(Tag<float>(), hn::Add(b, hn::Add(odd, hn::Set(bits, 0x7FFF))));
  const auto quiet = hn::BitCast(Tag<float>(), hn::Or(b, hn::Set(bits, 0x400000)));
  const auto whole = hn::BitCast(bits, hn::IfThenElse(hn::IsNaN(v), quiet, rounded));
  return hn::BitCast(Tag<float>(), hn::And(whole, hn::Set(bits, 0xFFFF0000U)));
}

/// `count` of them, in place or not.
inline void RoundArrayToBFloat16(const float* from, int64_t count, float* to) noexcept {
  Transform<float>(
      count, to, [](VecOf<float> v) HWY_ATTR { return RoundToBFloat16(v); }, from);
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
