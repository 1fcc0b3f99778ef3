// Weights of a layer of products in an ONNX graph.
#pragma once

#include <string>

#include "lamina/model/model.h"
#include "lamina/model/onnx_graph.h"

namespace lamina {

/// The value of a layer's weights (outputs × inputs) in the network's type, its constants named by `prefix`. Weights in
/// few bits are so in the file: bf16 and f16 followed by Cast, 8 bits by DequantizeLinear with a scale a neuron.
/// Where many exact ones are most often 0, the others alone are there, put among zeros by ScatterElements.
std::string WeightsInGraph(OnnxGraph& graph, const Network& network, WeightStorage storage, const std::string& prefix,
                           size_t layer);

}  // namespace lamina
