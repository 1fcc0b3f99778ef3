// How a step of a whole network ends, whichever way computes it: the parts of its loss added up, and whether the steps
// go on.
#pragma once

#include <cmath>
#include <exception>
#include <span>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// Adds the parts of a loss in their order. Returns whether the sum is finite.
inline bool AddParts(std::span<const LossSums> parts, LossSums& sums) {
  for (const LossSums& part : parts) {
    sums.loss += part.loss;
    sums.weight += part.weight;
    sums.correct += part.correct;
    sums.samples += part.samples;
  }
  return std::isfinite(sums.loss);
}

/// Whether somebody asks for the end. What the question throws counts as a yes and is kept for the caller of Run(),
/// until all threads are back.
inline bool IsToldToStop(const TrainingSteps& work, std::exception_ptr& thrown) noexcept {
  try {
    return work.stop_requested != nullptr && *work.stop_requested && (*work.stop_requested)();
  } catch (...) {
    thrown = std::current_exception();
    return true;
  }
}

}  // namespace lamina::cpu
