// The ways in which backend cpu computes a layer, as one list: each accepts a request or declines it with a reason.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/candidates.h"
#include "lamina/backend/cpu/pass_plan.h"

namespace lamina::cpu {

struct CpuImplementation {
  std::string_view name;  // what it computes with
  /// Whether it computes the request, whatever the plans; the reason why not.
  Verdict (*accepts)(const LayerPlanRequest&);
  /// Makes the layer for a request that it accepts.
  std::unique_ptr<PreparedLayer> (*make)(const LayerPlanRequest&, const PassPlans&);
  /// Plans worth measuring for a problem that it accepts, on up to `threads` threads.
  std::vector<Candidate> (*candidates)(const Problem&, int threads);
};

/// Fastest first.
std::span<const CpuImplementation> CpuImplementations();

/// The first of the list that accepts the request; null where none does. `why`: its verdict, else that of the first of
/// the list; may be null.
const CpuImplementation* ImplementationFor(const LayerPlanRequest& request, Verdict* why = nullptr);

/// What may stand in BackendOptions::kernel: "auto"; "own" for layers one by one; "small" and "rows" for training steps
/// of the whole network (SmallNetwork, RowBlockNetwork).
std::vector<std::string> CpuKernelNames();

// The entries of the list.
CpuImplementation AmxImplementation();
CpuImplementation BFloat16Implementation();
CpuImplementation GroupImplementation();
CpuImplementation TileImplementation();

}  // namespace lamina::cpu
