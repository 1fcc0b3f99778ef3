// Kernel machines in the leaves of a tree, by this process or shared by ranks. Private to kernel_network.cc.
#pragma once

#include "lamina/data/encode/dataset.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/rbf/leaf_tree.h"

namespace lamina {

/// A machine in each leaf of the tree that `tree` says, fitted by FitKernelNetwork() with `options`. Ranks of
/// options.ranks each take some leaves, and all have all of them in the end: collective. Not complete where it was
/// stopped, on any rank.
KernelNetwork FitLeaves(const Dataset& train, KernelNetworkOptions options, const LeafOptions& tree);

}  // namespace lamina
