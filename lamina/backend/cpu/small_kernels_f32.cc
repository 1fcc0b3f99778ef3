// The f32 kernels of small networks, compiled once per instruction set (which ones: kernels_f32.cc).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/small_kernels_f32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/small_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const SmallTable<float>& SmallTableF32() { return SmallTableOf<float>(); }
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(SmallTableF32);
template <>
const SmallTable<float>& SmallKernels<float>() {
  return HWY_DYNAMIC_DISPATCH(SmallTableF32)();
}
}  // namespace lamina::cpu
#endif
