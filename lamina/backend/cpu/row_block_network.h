// Training steps by blocks of rows. A block goes through the whole network, forward and back, before the next one. It
// stays in the first-level caches, and the gradients' sums in the second.
#pragma once

#include <memory>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// For any request that FitsRowBlocks(). The same bits on any number of threads.
std::unique_ptr<PreparedNetwork> MakeRowBlockNetwork(const NetworkPlanRequest& request, int threads);

}  // namespace lamina::cpu
