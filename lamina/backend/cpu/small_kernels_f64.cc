// The f64 kernels of small networks, compiled once per instruction set (which ones: kernels_f64.cc).
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/small_kernels_f64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/small_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const SmallTable<double>& SmallTableF64() { return SmallTableOf<double>(); }
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(SmallTableF64);
template <>
const SmallTable<double>& SmallKernels<double>() {
  return HWY_DYNAMIC_DISPATCH(SmallTableF64)();
}
}  // namespace lamina::cpu
#endif
