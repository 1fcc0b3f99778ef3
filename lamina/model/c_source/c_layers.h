// Layers and networks in C: what model/predictor.h computes of an encoded row.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/model/c_source/c_activation.h"
#include "lamina/model/c_source/c_writer.h"
#include "lamina/neuron/weight_storage.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Adds the layers of a network, and "static void FUNCTION(const float *x, float *y)" that asks them in their order.
/// `prefix`: what the names of its layers and weights begin with.
void AddNetwork(CWriter& out, CActivations& activations, const Network& network, WeightStorage weights,
                const std::string& function, const std::string& prefix);

/// Adds "static void @_softmax(float *a, int count)", once.
void AddSoftmax(CWriter& out);

}  // namespace lamina
