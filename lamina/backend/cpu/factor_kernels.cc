// The blocks of a Cholesky factorization, compiled once per instruction set.
#include "lamina/backend/cpu/factor_kernels.h"

#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/factor_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/factor_kernels-inl.h"

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(FactorTableF32);
HWY_EXPORT(FactorTableF64);
template <>
const FactorTable<float>& FactorKernels<float>() {
  return HWY_DYNAMIC_DISPATCH(FactorTableF32)();
}
template <>
const FactorTable<double>& FactorKernels<double>() {
  return HWY_DYNAMIC_DISPATCH(FactorTableF64)();
}
}  // namespace lamina::cpu
#endif
