// The passes with bf16 operands, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/bf16_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/bf16_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const MixedTable& MixedTableHere() {
  static const MixedTable kTable = MakeMixedTable();
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(MixedTableHere);
const MixedTable& BFloat16Kernels() { return HWY_DYNAMIC_DISPATCH(MixedTableHere)(); }
}  // namespace lamina::cpu
#endif
