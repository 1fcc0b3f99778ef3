// The integer kernels, compiled once per instruction set.
// SSSE3, SSE4 and AVX3_DL are left out to save compile time: few machines without AVX2 remain, and AVX3_DL
// adds nothing that these kernels use. SVE has no vectors of a size known when compiling, which the register tiles
// need; Arm processors use NEON.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/kernels_integer.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/typed_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
const TypedTable<int32_t>& TypedTableI32() {
  static const TypedTable<int32_t> kTable = TypedTableOf<int32_t>(&FindI32);
  return kTable;
}
const TypedTable<int64_t>& TypedTableI64() {
  static const TypedTable<int64_t> kTable = TypedTableOf<int64_t>(&FindI64);
  return kTable;
}
}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TypedTableI32);
HWY_EXPORT(TypedTableI64);
template <>
const TypedTable<int32_t>& TypedKernels<int32_t>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableI32)();
}
template <>
const TypedTable<int64_t>& TypedKernels<int64_t>() {
  return HWY_DYNAMIC_DISPATCH(TypedTableI64)();
}
}  // namespace lamina::cpu
#endif
