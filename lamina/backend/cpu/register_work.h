// The arithmetic of a layer's forward pass alone, on values in registers.
#pragma once

#include <functional>

#include "lamina/backend/backend.h"

namespace lamina::cpu {

/// run(rounds, start) does it on the calling thread and returns something that depends on all of it.
struct RegisterWork {
  std::function<double(int64_t rounds, double start)> run;
  int64_t synapses_per_round = 0;
};

/// The work of the kernel that backend cpu would take for the request.
RegisterWork RegisterWorkOf(const LayerPlanRequest& request);

}  // namespace lamina::cpu
