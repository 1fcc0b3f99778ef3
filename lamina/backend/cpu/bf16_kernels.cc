// The passes with bf16 operands, compiled once per instruction set (which ones: kernels_f32.cc).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
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
