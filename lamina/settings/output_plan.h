// What the output layer of a network is.
#pragma once

#include "lamina/neuron/activation.h"
#include "lamina/neuron/loss.h"

namespace lamina {

/// The network's shape besides its inputs and outputs, resolved from loss, activations and task.
struct OutputPlan {
  Loss loss;
  Activation activation;  // of the output layer
  bool single_output;     // two classes, one output
  bool classes = false;
};

}  // namespace lamina
