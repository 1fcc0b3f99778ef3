// The f32 kernels, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/kernels_f32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const KernelTable<float>& TableF32() { return Table<float>(); }
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TableF32);
template <>
const KernelTable<float>& Kernels<float>() {
  return HWY_DYNAMIC_DISPATCH(TableF32)();
}
}  // namespace lamina::cpu
#endif
