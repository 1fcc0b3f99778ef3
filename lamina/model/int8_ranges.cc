// Ranges in model files.
#include "lamina/model/int8_ranges.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"

namespace lamina {
namespace {

bool IsRange(const Int8Ranges::Layer& layer) {
  return std::isfinite(layer.largest) && layer.largest >= 0 && std::isfinite(layer.low) && std::isfinite(layer.high) &&
         layer.low <= layer.high;
}

}  // namespace

nlohmann::json ToJson(const Int8Ranges& ranges) {
  nlohmann::json layers = nlohmann::json::array();
  for (const Int8Ranges::Layer& layer : ranges.layers) {
    layers.push_back({layer.largest, layer.low, layer.high});
  }
  return {{"input_steps", ranges.input_steps}, {"layers", layers}};
}

Int8Ranges Int8RangesFrom(const nlohmann::json& node, const Network& network) {
  Int8Ranges ranges;
  ranges.input_steps = node.at("input_steps").get<std::vector<double>>();
  for (const nlohmann::json& layer : node.at("layers")) {
    ranges.layers.push_back({layer.at(0).get<double>(), layer.at(1).get<double>(), layer.at(2).get<double>()});
  }
  const bool fits = std::ssize(ranges.input_steps) == network.inputs() &&
                    ranges.layers.size() == network.layers().size() &&
                    std::all_of(ranges.input_steps.begin(), ranges.input_steps.end(),
                                [](double step) { return std::isfinite(step) && step > 0; }) &&
                    std::all_of(ranges.layers.begin(), ranges.layers.end(), &IsRange);
  if (!fits) {
    throw Error(ErrorCode::kBadModel, "the ranges of 8-bit integers do not fit the network");
  }
  return ranges;
}

}  // namespace lamina
