// What Highway's library would say of this processor, for the predict library, which does not link it. These are the
// instruction sets that kernels are compiled for (highway_targets.h), and which one is taken.
#include "lamina/backend/cpu/highway_targets.h"
//
#include <hwy/targets.h>

#include "lamina/backend/cpu/x86_features.h"

namespace hwy {
namespace {

int64_t FindTargets() {
  int64_t targets = HWY_STATIC_TARGET;
#if defined(__x86_64__)
  const lamina::cpu::X86Features has = lamina::cpu::ReadX86Features();
  targets |= (has.avx2 ? HWY_AVX2 : 0) | (has.avx512 ? HWY_AVX3 : 0);
#endif
  return targets;
}

int64_t& Allowed() {
  static int64_t allowed = ~int64_t{0};
  return allowed;
}

}  // namespace

void DisableTargets(int64_t disabled) { Allowed() = ~disabled; }

int64_t SupportedTargets() {
  static const int64_t targets = FindTargets();
  return (targets & Allowed()) | HWY_STATIC_TARGET;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
