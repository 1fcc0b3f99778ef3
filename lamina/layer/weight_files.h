// The parameters of a network as plain arrays, a file each.
#pragma once

#include <string>
#include <vector>

#include "lamina/nn/network.h"

namespace lamina {

enum class WeightFormat { kCsv, kNpy };

/// Writes layer-1-weight (outputs × inputs), layer-1-bias and layer-1-radius (1 × outputs), where layers have them, and
/// so on. They go into `folder`, which is made, with enough digits to read back the same numbers. Returns the paths.
/// Throws Error(kIo), also as ClaimNames().
std::vector<std::string> WriteWeightFiles(const Network& network, WeightFormat format, const std::string& folder);

}  // namespace lamina
