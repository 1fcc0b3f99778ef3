// How large the numbers of a network become: what its scales in 8 bits follow from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "lamina/nn/network.h"

namespace lamina {

struct Int8Ranges {
  struct Layer {
    double largest = 0;  // output, whatever its sign; of the last layer before its curve
    double low = 0;      // of what goes into the curve
    double high = 0;
  };
  std::vector<double> input_steps;  // of each input, as Int8Network::input_steps
  std::vector<Layer> layers;
};

nlohmann::json ToJson(const Int8Ranges& ranges);
/// Throws Error(kBadModel) where they are not of `network`, and what nlohmann::json throws.
Int8Ranges Int8RangesFrom(const nlohmann::json& node, const Network& network);

}  // namespace lamina
