// Training steps by blocks of rows: a block goes through the whole network, forward and back, before the next one, and
// stays in the first-level caches; the sums of gradients stay in the second.
#pragma once

#include <memory>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// For any request that FitsRowBlocks(). The same bits on any number of threads.
std::unique_ptr<PreparedNetwork> MakeRowBlockNetwork(const NetworkPlanRequest& request, int threads);

}  // namespace lamina::cpu
