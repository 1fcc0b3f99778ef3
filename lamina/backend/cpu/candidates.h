// Plans that the tuner may try on backend cpu.
#pragma once

#include <vector>

#include "lamina/backend/cpu/blocking.h"
#include "lamina/backend/plan.h"

namespace lamina::cpu {

/// Sorted by a model of the register tile and the caches, best first. `shape` is the largest tile of the instruction
/// set; `onednn`: whether oneDNN can take the problem.
std::vector<Plan> CandidatePlans(const Problem& problem, TileShape shape, int threads, bool onednn);

}  // namespace lamina::cpu
