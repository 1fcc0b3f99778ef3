// What tells the best epoch: the validation loss, or a metric of the validation rows.
#pragma once

#include "lamina/model/model.h"
#include "lamina/nn/executor.h"
#include "lamina/train/history.h"
#include "lamina/train/settings.h"
#include "lamina/train/train_options.h"

namespace lamina {

/// Sets options.monitor to the metric of settings.monitor, for a network whose answers `model` reads; nothing for the
/// loss. `model` and `validation` must outlive the training. Throws Error(kInvalidArgument) for a metric that cannot be
/// computed on these rows, and without any.
void SetMonitor(const TrainSettings& settings, const Model& model, const Dataset& validation, TrainOptions& options);

/// The metric of the network as it is now on `validation`; NaN where options.monitor is empty.
double Monitored(const TrainOptions& options, Executor& executor, const Dataset& validation);

/// What is compared from epoch to epoch, the lower the better.
double WatchedOf(const TrainOptions& options, const EpochRecord& record);

}  // namespace lamina
