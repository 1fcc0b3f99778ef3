// Training steps of networks that fit into the second-level cache: one block of memory, nothing packed, threads that
// wait for each other twice a step.
#pragma once

#include <memory>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// Whether SmallNetwork is the faster way; the reason why not otherwise.
Verdict SuitsSmallNetwork(const NetworkPlanRequest& request);

/// For any request of f32 or f64 without trained radii, whether it is the faster way or not.
std::unique_ptr<PreparedNetwork> MakeSmallNetwork(const NetworkPlanRequest& request, int threads);

}  // namespace lamina::cpu
