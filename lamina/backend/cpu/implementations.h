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
  /// The BackendOptions::kernel that allows it (so does "auto"), and its name in plans.
  std::string_view kernel;
  /// Taken only where the plan of a pass names `kernel`: no rule says when it is the faster one.
  bool only_by_plan;
  /// Whether it computes the request, whatever the plans; the reason why not.
  Verdict (*accepts)(const LayerPlanRequest&);
  /// Of a request that it accepts.
  std::unique_ptr<PreparedLayer> (*make)(const LayerPlanRequest&, const PassPlans&);
  /// Plans worth measuring for a problem that it accepts, on up to `threads` threads.
  std::vector<Candidate> (*candidates)(const Problem&, int threads);
};

/// Fastest first.
std::span<const CpuImplementation> CpuImplementations();

/// What of the list serves a request.
struct ServingImplementations {
  /// Fastest first, up to the first that needs no plan: those after it are never taken. Empty: nobody accepts.
  std::vector<const CpuImplementation*> list;
  /// Of the fastest; where nobody accepts, the reason of the fastest that BackendOptions::kernel allows.
  Verdict verdict;
};
ServingImplementations ImplementationsFor(const LayerPlanRequest& request, std::string_view kernel);

/// What may stand in BackendOptions::kernel: "auto" and the kernels of the list.
std::vector<std::string> CpuKernelNames();

// The entries of the list.
CpuImplementation AmxImplementation();
CpuImplementation BFloat16Implementation();
CpuImplementation GroupImplementation();
CpuImplementation OnednnImplementation();
CpuImplementation TileImplementation();

}  // namespace lamina::cpu
