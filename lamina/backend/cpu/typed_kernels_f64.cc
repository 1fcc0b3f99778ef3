// The forward passes with Precision::kFast in f64, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/typed_kernels_f64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/typed_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const TypedTable<double>& TypedTableF64() {
  static const TypedTable<double> kTable = TypedTableOf<double>(&FindFloat<double>);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TypedTableF64);
template <>
const TypedTable<double>& TypedKernels<double>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableF64)();
}
}  // namespace lamina::cpu
#endif
