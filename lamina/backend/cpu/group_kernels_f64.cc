// The forward passes with Precision::kFast in f64, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/group_kernels_f64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/group_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const GroupTable<double>& GroupTableF64() {
  static const GroupTable<double> kTable = GroupTableOf<double>(&FindFloat<double>);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(GroupTableF64);
template <>
const GroupTable<double>& GroupKernels<double>() {
  return HWY_DYNAMIC_DISPATCH(GroupTableF64)();
}
}  // namespace lamina::cpu
#endif
