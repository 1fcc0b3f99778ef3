// Training steps of networks that fit into the second-level cache: one block of memory, nothing packed, threads that
// wait for each other twice a step.
#pragma once

#include <memory>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// Whether SmallNetwork can compute the network; the reason why not otherwise.
Verdict FitsSmallNetwork(const NetworkPlanRequest& request);

/// Whether SmallNetwork is the faster way; the reason why not otherwise.
Verdict SuitsSmallNetwork(const NetworkPlanRequest& request);

/// For any request that FitsSmallNetwork(), whether it is the faster way or not.
std::unique_ptr<PreparedNetwork> MakeSmallNetwork(const NetworkPlanRequest& request, int threads);

}  // namespace lamina::cpu
