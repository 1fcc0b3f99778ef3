// A network's numbers to whole numbers of 8 bits.
#pragma once

#include "lamina/model/int8_network.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Measures how large activations become on `features` (rows of encoded inputs, one at least), and inputs on these and
/// on `bounds` (such rows, or none: what is rare in the first). Rounds weights to 8 bits with a scale a neuron. Throws
/// Error(kUnsupported) naming what cannot be: members, residual blocks, l2 distances, an output activation other than
/// identity, softmax and sigmoid, more inputs than sums of 32 bits take.
Int8Network MakeInt8Network(const Network& network, const Matrix& features, const Matrix& bounds);

}  // namespace lamina
