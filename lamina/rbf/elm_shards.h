// Sums over the rows of an extreme learning machine, alone or with other ranks. Private to elm.cc.
#pragma once

#include "lamina/rbf/elm.h"

namespace lamina {

/// Adds all rows of `train` to `sums`, which are zero: by options.shards where it has such, of which each rank sums
/// some. False where it was stopped, on all ranks. Throws Error(kInvalidArgument) for more ranks than shards.
/// Collective.
bool AddElmRows(const Dataset& train, const ElmOptions& options, int threads, ElmSums& sums);

}  // namespace lamina
