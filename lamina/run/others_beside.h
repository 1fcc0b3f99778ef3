// What answers beside the network of a run: a kernel machine (--recipe mixed), boosted trees (--trees), a line
// (--line).
#pragma once

#include <functional>
#include <optional>

#include "lamina/run/kernel_training.h"
#include "lamina/run/tree_training.h"

namespace lamina {

struct OthersBeside {
  std::optional<KernelTraining> kernels;
  std::optional<TreeTraining> trees;
};

/// Trains what the settings and the rows want of them. False where it was stopped. Throws Error.
bool TrainOthersBeside(const TrainSettings& settings, const TrainData& data, const Backend& backend,
                       const std::function<bool()>& stop_requested, OthersBeside& trained);

/// Makes `model`, one network, answer together with the others. Validation rows say how much each counts: first the
/// machine beside the network, then the trees beside both. The machine answers them as one of the training rows would.
/// It counts half where they are fewer than 100, or rows have weights. Last comes a line, where HasLineBeside().
void AnswerWithOthers(OthersBeside others, const TrainSettings& settings, const TrainData& data, const Backend& backend,
                      Model& model);

}  // namespace lamina
