// The forward passes of halves, and Precision::kFast in f32, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/group_kernels_f32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/group_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const GroupTable<float>& GroupTableF32() {
  static const GroupTable<float> kTable = GroupTableOf<float>(&FindFloat<float>);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(GroupTableF32);
template <>
const GroupTable<float>& GroupKernels<float>() {
  return HWY_DYNAMIC_DISPATCH(GroupTableF32)();
}
}  // namespace lamina::cpu
#endif
