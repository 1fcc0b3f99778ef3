// What the programs do first: threads that wait at a barrier must not take the cores from others.
#pragma once

#include <cstdlib>
#include <string>

#include "lamina/base/hardware.h"
#include "lamina/platform/process.h"

namespace lamina {

/// Threads of the OpenMP that a BLAS brings spin for milliseconds at every barrier before they sleep. Where another
/// process, or the window, wants the cores, a training step of 1 ms then takes 100 ms. 1,000 rounds (about 0.01 ms)
/// cost nothing on idle cores (docs/decisions/0003-spinning-threads.md). Whoever set them, or OMP_WAIT_POLICY, is
/// obeyed. Threads are never more than cores, whatever OMP_NUM_THREADS says: libgomp ends the process where it cannot
/// start them all.
inline void LimitSpinning() {
  constexpr const char* kThreads = "OMP_NUM_THREADS";
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) {
    platform::SetVariable("GOMP_SPINCOUNT", "1000", /*replace=*/false);
  }
  if (const char* threads = std::getenv(kThreads);
      threads != nullptr && std::strtoll(threads, nullptr, 10) > UsableCores()) {
    platform::SetVariable(kThreads, std::to_string(UsableCores()).c_str(), /*replace=*/true);
  }
}

}  // namespace lamina
