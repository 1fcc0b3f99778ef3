// Weights of a layer of products in an ONNX graph.
#pragma once

#include <string>

#include "lamina/model/model.h"
#include "lamina/model/onnx_graph.h"

namespace lamina {

/// The value of a layer's weights (outputs × inputs) in the network's type. A model that keeps them in few bits has
/// them so in the file: bf16 and f16 followed by Cast, 8 bits by DequantizeLinear with a scale a neuron.
std::string WeightsInGraph(OnnxGraph& graph, const Model& model, size_t layer);

}  // namespace lamina
