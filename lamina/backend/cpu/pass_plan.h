// A Plan with its open fields filled in for this machine.
#pragma once

#include <array>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/blocking.h"
#include "lamina/backend/cpu/team.h"

namespace lamina::cpu {

/// How one pass of a layer runs.
struct PassPlan {
  std::string kernel;  // as in Plan; empty: by the size of each call
  CacheBudget budget;
  int most_threads = 1;
  bool threads_chosen = false;  // else by the work of each call

  PassPlan() = default;
  PassPlan(const Plan& plan, const LayerPlanRequest& request, int threads)
      : kernel(plan.kernel), most_threads(threads), threads_chosen(plan.threads > 0) {
    // Sums are of OutputType() or as wide, but for 8-byte lanes of narrow types; close enough for a cache.
    const int64_t lane_bytes = DTypeSize_bytes(OutputType(request.dtype));
    budget = MachineBudget(lane_bytes);
    budget.tile_rows = plan.tile_rows;
    budget.tile_vectors = plan.tile_vectors;
    if (plan.cache_bytes > 0) {
      budget.column_block = plan.cache_bytes / lane_bytes;
    }
    if (threads_chosen) {
      most_threads = static_cast<int>(std::min<int64_t>(plan.threads, threads));
    }
    if (request.any_slicing) {  // nothing that changes the order of a sum
      kernel = "tile";
    } else if (plan.depth > 0) {
      budget.depth = plan.depth;
    }
  }

  int ThreadsFor(int64_t batch, const LayerSpec& layer) const {
    return threads_chosen ? most_threads : cpu::ThreadsFor(batch, layer, most_threads);
  }
};

/// By Pass.
using PassPlans = std::array<PassPlan, 3>;

}  // namespace lamina::cpu
