// Training steps by blocks of rows: a block goes through the whole network, forward and back, before the next one, and
// stays in the first-level caches; the sums of gradients stay in the second.
#pragma once

#include <memory>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// Whether blocks of rows can compute the network; the reason why not otherwise.
Verdict FitsRowBlocks(const NetworkPlanRequest& request);

/// Whether they are the faster way. `small`: whether SmallNetwork would be, were it not for them.
Verdict SuitsRowBlocks(const NetworkPlanRequest& request, const Verdict& small);

/// For any request that fits. The same bits on any number of threads.
std::unique_ptr<PreparedNetwork> MakeRowBlockNetwork(const NetworkPlanRequest& request, int threads);

}  // namespace lamina::cpu
