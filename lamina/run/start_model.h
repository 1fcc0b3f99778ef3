// Training that starts from a model: its layers, its preprocessing, its parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lamina/model/model.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// Reads settings.start_from. Where the settings say nothing about the network, `settings.layers` becomes that model's
/// hidden layers and an output layer as the target needs. The preprocessing has targets in the form of the settings'
/// network. Throws Error(kNotFound | kIo | kBadModel), and kInvalidArgument for a model without preprocessing.
Model ReadStartModel(TrainSettings& settings, std::span<const Activation> custom);

/// Gives those layers of `network` the parameters of `start` that have the same place, synapse and sizes; they are
/// named "layer.1", ... in the result. Throws Error(kInvalidArgument) where there are none.
std::vector<std::string> TakeParameters(const Model& start, const std::string& path, Network& network);

/// Which layers settings.freeze names. Throws Error(kInvalidArgument) for a name that is none of the network's layers
/// and where no layer is left to train.
std::vector<bool> FrozenLayers(const TrainSettings& settings, const Network& network);

}  // namespace lamina
