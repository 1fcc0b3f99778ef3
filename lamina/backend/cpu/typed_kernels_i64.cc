// The forward passes of integers summed in i64, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/typed_kernels_i64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/typed_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const TypedTable<int64_t>& TypedTableI64() {
  static const TypedTable<int64_t> kTable = TypedTableOf<int64_t>(&FindI64);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TypedTableI64);
template <>
const TypedTable<int64_t>& TypedKernels<int64_t>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableI64)();
}
}  // namespace lamina::cpu
#endif
