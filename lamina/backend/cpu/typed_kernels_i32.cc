// The forward passes of bytes and i16 summed in i32, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/typed_kernels_i32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/typed_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const TypedTable<int32_t>& TypedTableI32() {
  static const TypedTable<int32_t> kTable = TypedTableOf<int32_t>(&FindI32);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TypedTableI32);
template <>
const TypedTable<int32_t>& TypedKernels<int32_t>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableI32)();
}
}  // namespace lamina::cpu
#endif
