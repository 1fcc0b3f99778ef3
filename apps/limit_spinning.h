// What the programs do first: threads that wait at a barrier must not take the cores from others.
#pragma once

#include <cstdlib>
#include <string>

#include "lamina/base/hardware.h"
#include "lamina/platform/process.h"

namespace lamina {

/// Threads of libgomp spin for milliseconds at every barrier before they sleep. Where another process, or the window,
/// wants the cores, a training step of 1 ms then takes 100 ms. 1,000 rounds (about 0.01 ms) cost nothing on idle cores
/// (docs/decisions/0003-spinning-threads.md). The setting is read before main(), so the program starts itself anew.
/// Whoever set it, or OMP_WAIT_POLICY, is obeyed. Threads are never more than cores, whatever OMP_NUM_THREADS says.
/// They would wait for one another, and libgomp ends the process where it cannot start them all. `waits`: whether
/// threads of libgomp may wait for one another again and again. Where not, only that bound on threads counts, and a
/// start is a third shorter.
inline void LimitSpinning(char** argv, bool waits = true) {
  constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
  constexpr const char* kThreads = "OMP_NUM_THREADS";
  const bool spins = waits && std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr;
  const char* threads = std::getenv(kThreads);
  const bool too_many = threads != nullptr && std::strtoll(threads, nullptr, 10) > UsableCores();
  if (spins || too_many) {
    if (spins) {
      platform::SetVariable(kSpinCount, "1000", /*replace=*/false);
    }
    if (too_many) {
      platform::SetVariable(kThreads, std::to_string(UsableCores()).c_str(), /*replace=*/true);
    }
    platform::RunAnew(platform::ProgramFile().c_str(),
                      argv);  // comes back only where it is not possible: then as before
  }
}

}  // namespace lamina
