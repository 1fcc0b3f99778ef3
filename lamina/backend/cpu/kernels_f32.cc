// The f32 kernels, compiled once per instruction set.
// SSSE3, SSE4 and AVX3_DL are left out to save compile time: few machines without AVX2 remain, and AVX3_DL
// adds nothing that these kernels use. SVE has no vectors of a size known when compiling, which the register tiles
// need; Arm processors use NEON.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/kernels_f32.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/kernels-inl.h"
#include "lamina/backend/cpu/typed_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const KernelTable<float>& TableF32() { return Table<float>(); }
const TypedTable<float>& TypedTableF32() {
  static const TypedTable<float> kTable = TypedTableOf<float>(&FindFloat<float>);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "lamina/backend/cpu/cpu_backend.h"

namespace lamina {

std::vector<std::string> CpuTargets() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

}  // namespace lamina

namespace lamina::cpu {
HWY_EXPORT(TableF32);
HWY_EXPORT(TypedTableF32);
template <>
const KernelTable<float>& Kernels<float>() {
  return HWY_DYNAMIC_DISPATCH(TableF32)();
}
template <>
const TypedTable<float>& TypedKernels<float>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableF32)();
}
}  // namespace lamina::cpu
#endif
