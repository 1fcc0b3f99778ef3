// The f64 kernels of networks by blocks of rows, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/row_block_kernels_f64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/row_block_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const RowBlockTable<double>& RowBlockTableF64() { return RowBlockTableOf<double>(); }
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(RowBlockTableF64);
template <>
const RowBlockTable<double>& RowBlockKernels<double>() {
  return HWY_DYNAMIC_DISPATCH(RowBlockTableF64)();
}
}  // namespace lamina::cpu
#endif
