// The f32 kernels of networks by blocks of rows, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/row_block_kernels_f32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/row_block_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const RowBlockTable<float>& RowBlockTableF32() { return RowBlockTableOf<float>(); }
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(RowBlockTableF32);
template <>
const RowBlockTable<float>& RowBlockKernels<float>() {
  return HWY_DYNAMIC_DISPATCH(RowBlockTableF32)();
}
}  // namespace lamina::cpu
#endif
