// The Python type Network: a network whose parameters NumPy views.
#pragma once

#include <string>

#include "lamina/nn/network.h"
#include "python/src/arrays.h"

namespace lamina::python {

/// Held by Python; its parameters stay where they are as long as it lives.
struct PyNetwork {
  Network network;
};

/// Throws Error(kInvalidArgument) unless x has the network's inputs.
void RequireInputs(const Network& network, ConstMatrixView x);

}  // namespace lamina::python
