// The f32 kernels of small networks, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
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
