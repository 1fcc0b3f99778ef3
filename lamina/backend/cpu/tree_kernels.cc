// The kernels of boosted trees, compiled once per instruction set.
#include "lamina/backend/cpu/tree_kernels.h"

#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/tree_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/tree_kernels-inl.h"

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(TreeTableOfTarget);
const TreeTable& TreeKernels() { return HWY_DYNAMIC_DISPATCH(TreeTableOfTarget)(); }
}  // namespace lamina::cpu
#endif
