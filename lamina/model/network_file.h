// A network in a model file: JSON of its layers, tensors of its parameters.
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "lamina/model/matrix_file.h"
#include "lamina/neuron/weight_storage.h"
#include "lamina/nn/network.h"

namespace lamina {

nlohmann::json NetworkToJson(const Network& network, WeightStorage storage);
/// How a network of that JSON keeps its weights.
WeightStorage StorageIn(const nlohmann::json& network);

/// What the names of the tensors of an ensemble's network begin with: "" for the first, then "network.2.".
std::string PrefixOfNetwork(int64_t network);

/// Tensors to be written: views of networks, and what was made for them.
struct TensorsOfNetworks {
  std::map<std::string, TensorView> views;
  std::deque<StoredWeights> rounded;
  std::deque<MatrixWithoutZeros> without_zeros;
};
/// Adds those of `network`, which must outlive them: PREFIXlayer.1.weight (outputs × inputs), PREFIXlayer.1.bias and so
/// on (SaveModel in model/model.h). Throws Error(kUnsupported) as StoreLayer().
void AddTensors(const Network& network, WeightStorage storage, const std::string& prefix, TensorsOfNetworks& tensors);

/// The network of `node` with its tensors. Throws Error(kBadModel), before it takes memory, where the file lacks what
/// the layers claim. Throws nlohmann's exceptions where the JSON is wrong.
Network ReadNetwork(const SafetensorsFile& file, const nlohmann::json& node, const std::string& prefix,
                    std::span<const Activation> custom);

}  // namespace lamina
