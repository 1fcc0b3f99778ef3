// The forward passes of integers summed in i64, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/group_kernels_i64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/group_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const GroupTable<int64_t>& GroupTableI64() {
  static const GroupTable<int64_t> kTable = GroupTableOf<int64_t>(&FindI64);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(GroupTableI64);
template <>
const GroupTable<int64_t>& GroupKernels<int64_t>() {
  return HWY_DYNAMIC_DISPATCH(GroupTableI64)();
}
}  // namespace lamina::cpu
#endif
