// What Highway's library would say of this processor, for the predict library, which does not link it. These are the
// instruction sets that kernels are compiled for (highway_targets.h), and which one is taken.
#include "lamina/backend/cpu/highway_targets.h"
//
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <hwy/targets.h>

namespace hwy {
namespace {

#if defined(__x86_64__)
// Bit `bit` of register c of a leaf of the instruction cpuid: names that not every compiler knows.
bool HasBitOfC(unsigned leaf, unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (c >> bit & 1) != 0;
}
#endif

int64_t FindTargets() {
  int64_t targets = HWY_STATIC_TARGET;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto all = [](auto... has) { return ((has != 0) && ...); };
  const bool avx2 = all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"), __builtin_cpu_supports("bmi"),
                        __builtin_cpu_supports("bmi2"), __builtin_cpu_supports("aes"), __builtin_cpu_supports("pclmul"),
                        HasBitOfC(1, 29) /* f16c */, HasBitOfC(0x80000001, 5) /* lzcnt */);
  const bool avx512 = avx2 && all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
                                  __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512bw"),
                                  __builtin_cpu_supports("avx512cd"));
  targets |= (avx2 ? HWY_AVX2 : 0) | (avx512 ? HWY_AVX3 : 0);
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
