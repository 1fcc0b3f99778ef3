// The kernels of single rows, compiled once per instruction set.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/row_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/row_kernels-inl.h"

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(RowTableOfTarget);
const RowTable& RowKernels() { return HWY_DYNAMIC_DISPATCH(RowTableOfTarget)(); }
}  // namespace lamina::cpu
#endif
