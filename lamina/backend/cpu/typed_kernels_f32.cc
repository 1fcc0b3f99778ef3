// The forward passes of halves, and Precision::kFast in f32, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/typed_kernels_f32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/typed_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const TypedTable<float>& TypedTableF32() {
  static const TypedTable<float> kTable = TypedTableOf<float>(&FindFloat<float>);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TypedTableF32);
template <>
const TypedTable<float>& TypedKernels<float>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableF32)();
}
}  // namespace lamina::cpu
#endif
