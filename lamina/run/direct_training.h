// Methods without gradients, from settings and data to a network.
#pragma once

#include "lamina/backend/backend.h"
#include "lamina/model/model.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"
#include "lamina/train/history.h"
#include "lamina/train/trainer.h"

namespace lamina {

/// Trains `model` (of BuildModel) by the method of `settings`, which is not backpropagation. The history has one epoch,
/// none where stop_requested() ended it early ("interrupted"): the model is then as before. What the method chose
/// (radius, centers, C) goes into model.training["method"]. `ranks`: those that share the rows, of method elm; null:
/// this process alone. Throws Error.
History TrainDirectly(const TrainSettings& settings, const TrainData& data, const Backend& backend, Model& model,
                      const TrainCallbacks& callbacks, Communicator* ranks = nullptr);

}  // namespace lamina
