// The forward passes of bytes and i16 summed in i32, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/group_kernels_i32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/group_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const GroupTable<int32_t>& GroupTableI32() {
  static const GroupTable<int32_t> kTable = GroupTableOf<int32_t>(&FindI32);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(GroupTableI32);
template <>
const GroupTable<int32_t>& GroupKernels<int32_t>() {
  return HWY_DYNAMIC_DISPATCH(GroupTableI32)();
}
}  // namespace lamina::cpu
#endif
