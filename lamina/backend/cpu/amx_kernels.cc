// The passes on AMX tiles, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/amx_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/amx_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const AmxTable& AmxTableHere() {
  static const AmxTable kTable = MakeAmxTable();
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(AmxTableHere);
const AmxTable& AmxKernels() { return HWY_DYNAMIC_DISPATCH(AmxTableHere)(); }
}  // namespace lamina::cpu
#endif
