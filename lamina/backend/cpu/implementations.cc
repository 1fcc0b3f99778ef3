// The list of implementations.
#include "lamina/backend/cpu/implementations.h"

#include <algorithm>
#include <array>

namespace lamina::cpu {

std::span<const CpuImplementation> CpuImplementations() {
  // AMX takes its part of what others take, too. Requests for bf16 operands and for groups of neighbours are else taken
  // by one each; tiles take what is left.
  static const std::array kList{AmxImplementation(), BFloat16Implementation(), GroupImplementation(),
                                OnednnImplementation(), TileImplementation()};
  return kList;
}

ServingImplementations ImplementationsFor(const LayerPlanRequest& request, std::string_view kernel) {
  ServingImplementations serving;
  bool asked = false;
  for (const CpuImplementation& each : CpuImplementations()) {
    if (kernel != "auto" && kernel != each.kernel) {
      continue;
    }
    const Verdict verdict = each.accepts(request);
    if (!asked || (verdict && serving.list.empty())) {
      serving.verdict = verdict;
    }
    asked = true;
    if (verdict) {
      serving.list.push_back(&each);
      if (!each.only_by_plan) {
        break;
      }
    }
  }
  return serving;
}

std::vector<std::string> CpuKernelNames() {
  std::vector<std::string> names{"auto"};
  for (const CpuImplementation& each : CpuImplementations()) {
    if (std::find(names.begin(), names.end(), each.kernel) == names.end()) {
      names.emplace_back(each.kernel);
    }
  }
  return names;
}

}  // namespace lamina::cpu
