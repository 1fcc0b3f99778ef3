// The list of implementations.
#include "lamina/backend/cpu/implementations.h"

#include <array>

namespace lamina::cpu {

std::span<const CpuImplementation> CpuImplementations() {
  // AMX takes its part of what others take, too. Requests for bf16 operands and for groups of neighbors are else taken
  // by one each; tiles take what is left.
  static const std::array kList{AmxImplementation(), BFloat16Implementation(), GroupImplementation(),
                                TileImplementation()};
  return kList;
}

const CpuImplementation* ImplementationFor(const LayerPlanRequest& request, Verdict* why) {
  for (const CpuImplementation& each : CpuImplementations()) {
    const Verdict verdict = each.accepts(request);
    if (why != nullptr && (verdict || &each == &CpuImplementations().front())) {
      *why = verdict;
    }
    if (verdict) {
      return &each;
    }
  }
  return nullptr;
}

std::vector<std::string> CpuKernelNames() { return {"auto", "own", "small", "rows"}; }

}  // namespace lamina::cpu
