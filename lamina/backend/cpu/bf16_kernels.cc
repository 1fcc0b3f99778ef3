// The passes with bf16 operands, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/bf16_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/bf16_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const MixedKernels& MixedKernelsHere() {
  static const MixedKernels kTable = MixedTable();
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(MixedKernelsHere);
const MixedKernels& BFloat16Kernels() { return HWY_DYNAMIC_DISPATCH(MixedKernelsHere)(); }
}  // namespace lamina::cpu
#endif
