// The passes with bf16 operands, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/bf16_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/bf16_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const BFloat16Table& BFloat16TableHere() {
  static const BFloat16Table kTable = MakeBFloat16Table();
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(BFloat16TableHere);
const BFloat16Table& BFloat16Kernels() { return HWY_DYNAMIC_DISPATCH(BFloat16TableHere)(); }
}  // namespace lamina::cpu
#endif
