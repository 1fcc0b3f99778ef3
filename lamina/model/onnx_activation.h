// Activations as operators of an ONNX graph.
#pragma once

#include <string>

#include "lamina/model/onnx_graph.h"
#include "lamina/neuron/activation.h"

namespace lamina {

/// activation(z), z rows × neurons of `dtype`. Throws Error(kUnsupported) for the user's own.
std::string ActivationInGraph(OnnxGraph& graph, DType dtype, const Activation& activation, const std::string& z);

}  // namespace lamina
