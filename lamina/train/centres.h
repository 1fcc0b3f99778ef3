// Where distance neurons start: at rows of the training data, with a radius that fits their distances.
#pragma once

#include <cstdint>

#include "lamina/data/preprocessor.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Mean distance, as `synapse` measures it, between up to 10,000 random pairs of training rows (seeded).
double MeanDistance(Synapse synapse, const Dataset& train, uint64_t seed);

/// The radius at which a neuron is half-way up for a row at the mean distance d from its centre: triangle d / 1.2533,
/// gaussian d / 1.1774; any other activation keeps its parameters. Only for the first layer of a network: the inputs
/// of later ones are not known before training.
Activation WithRadiusFor(const Activation& activation, double mean_distance);

/// Sets the weights of the first layer to random training rows, all different while there are enough of them (seeded).
void PlaceCentres(Network& network, const Dataset& train, uint64_t seed);

}  // namespace lamina
