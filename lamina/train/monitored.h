// What is watched after each epoch: TrainOptions::monitor of the validation rows, else the loss.
#pragma once

#include "lamina/data/encode/dataset.h"
#include "lamina/nn/executor.h"
#include "lamina/train/history.h"
#include "lamina/train/train_options.h"

namespace lamina {

/// The metric of the network as it is now on `validation`; NaN where options.monitor is empty.
double Monitored(const TrainOptions& options, Executor& executor, const Dataset& validation);

/// What is compared from epoch to epoch, the lower the better.
double WatchedOf(const TrainOptions& options, const EpochRecord& record);

}  // namespace lamina
