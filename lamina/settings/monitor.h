// What tells the best epoch: the validation loss, or a metric of the validation rows.
#pragma once

#include "lamina/data/encode/dataset.h"
#include "lamina/model/model.h"
#include "lamina/settings/recipe.h"
#include "lamina/train/train_options.h"

namespace lamina {

/// Sets options.monitor to the metric of settings.monitor, for a network whose answers `model` reads; nothing for the
/// loss. `model` and `validation` must outlive the training. Throws Error(kInvalidArgument) for a metric that cannot be
/// computed on these rows, and without any.
void SetMonitor(const ResolvedSettings& settings, const Model& model, const Dataset& validation, TrainOptions& options);

}  // namespace lamina
