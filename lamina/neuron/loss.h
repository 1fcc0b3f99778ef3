// The losses and what each asks of the output layer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/neuron/activation.h"

namespace lamina {

/// Index in formulas::Losses; stored by name.
///
/// Scaling. With N samples and P outputs: mse is 1/N sum_i ||y_i - a_i||^2 (2016 paper, eq. (1)): summed over outputs,
/// averaged over samples, and its gradient is the true one, with the factor 2. The papers' algorithms drop that 2 and
/// so their learning rate 0.1 is 0.05 here. cross_entropy and binary_cross_entropy are sums over outputs, averaged
/// over samples, natural logarithm.
enum class Loss { kMse, kCrossEntropy, kBinaryCrossEntropy, kMae };

std::string_view LossName(Loss loss);
std::vector<std::string> LossNames();
/// Throws Error(kInvalidArgument) with the nearest known name.
Loss ParseLoss(std::string_view name);

/// cross_entropy needs softmax, binary_cross_entropy needs sigmoid, mse takes any activation.
Verdict LossAccepts(Loss loss, const Activation& output);

}  // namespace lamina
