// The f64 kernels, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/kernels_f64.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const KernelTable<double>& TableF64() { return Table<double>(); }
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TableF64);
template <>
const KernelTable<double>& Kernels<double>() {
  return HWY_DYNAMIC_DISPATCH(TableF64)();
}
}  // namespace lamina::cpu
#endif
