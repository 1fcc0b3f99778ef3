// The rates of layers, and names.
#include "lamina/nn/step_options.h"

#include <cmath>

#include "lamina/base/names.h"

namespace lamina {
namespace {

constexpr Named<Parametrization> kParametrizations[] = {{"standard", Parametrization::kStandard},
                                                        {"ntk", Parametrization::kNtk}};

}  // namespace

std::vector<std::string> ParametrizationNames() { return NamesIn(kParametrizations); }

Parametrization ParseParametrization(std::string_view name) {
  return ParseName(name, kParametrizations, "unknown parametrization");
}

std::vector<LayerRates> StepOptions::RatesOf(std::span<const LayerSpec> layers) const {
  const bool ntk = parametrization == Parametrization::kNtk;
  const bool embeds = embedding_layers > 0 && embedding_rate != 1;
  std::vector<LayerRates> rates;
  for (const LayerSpec& layer : ntk || bias_rate != 1 || embeds ? layers : std::span<const LayerSpec>()) {
    if (std::ssize(rates) < embedding_layers) {
      rates.push_back({embedding_rate, embedding_rate});
      continue;
    }
    const bool divided = ntk && layer.synapse == Synapse::kDot;
    rates.push_back({divided ? 1.0 / std::sqrt(static_cast<double>(layer.inputs)) : 1.0, bias_rate});
  }
  return rates;
}

}  // namespace lamina
