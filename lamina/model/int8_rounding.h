// A network's numbers to whole numbers of 8 bits.
#pragma once

#include <vector>

#include "lamina/model/int8_network.h"
#include "lamina/model/int8_ranges.h"
#include "lamina/nn/network.h"

namespace lamina {

/// What a layer's whole numbers mean.
struct Int8Scales {
  std::vector<double> inputs;  // the step of each input
  std::vector<double> units;   // of each neuron: 1 of its sum
  double centre = 0;           // what goes into the curve where the whole number is 0
};

struct Int8Rounded {
  Int8Network network;
  std::vector<Int8Scales> scales;  // of each layer
};

/// Measures how large activations become on `features` (rows of encoded inputs, one at least). Inputs are also measured
/// on `bounds`: such rows, or none, for what is rare in the first. Throws Error(kUnsupported), with the reason:
/// members, residual blocks, l2 distances, another output activation than identity, softmax and sigmoid, too many
/// inputs for 32 bits.
Int8Ranges MeasureForInt8(const Network& network, const Matrix& features, const Matrix& bounds);

/// Rounds weights to 8 bits with a scale a neuron. Throws Error(kUnsupported) as MeasureForInt8().
Int8Rounded RoundToInt8(const Network& network, const Int8Ranges& ranges);

}  // namespace lamina
