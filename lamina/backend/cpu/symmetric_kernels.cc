// The kernels of kernel machines, compiled once per instruction set.
#include "lamina/backend/cpu/symmetric_kernels.h"

#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/symmetric_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/symmetric_kernels-inl.h"

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(SymmetricTableOfTarget);
const SymmetricTable& SymmetricKernels() { return HWY_DYNAMIC_DISPATCH(SymmetricTableOfTarget)(); }
}  // namespace lamina::cpu
#endif
