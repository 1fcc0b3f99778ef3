// The blocks, layer by layer, then those behind the network's.
#include "lamina/nn/parameter_table.h"

#include <algorithm>

#include "lamina/base/check.h"

namespace lamina {
namespace {

constexpr int64_t kCacheLine_elements = 16;

int64_t WholeLines(int64_t elements) {
  return (elements + kCacheLine_elements - 1) / kCacheLine_elements * kCacheLine_elements;
}

}  // namespace

double SmallestRadius(const LayerSpec& spec) {
  constexpr double kSmallestShare = 1e-3;
  return kSmallestShare * spec.activation.radius();
}

ParameterTable::ParameterTable(const Network& network, const StepOptions& options, bool training)
    : elements_(network.parameter_bytes() / DTypeSize_bytes(network.dtype())), network_elements_(elements_) {
  const std::vector<LayerSpec>& layers = network.layers();
  Check(options.embedding_layers < std::ssize(layers), "there are layers behind the embeddings");
  const std::vector<LayerRates> rates = options.RatesOf(layers);
  for (size_t l = 0; l < layers.size(); ++l) {
    AddLayer(network, l, options, rates.empty() ? LayerRates{} : rates[l]);
  }
  if (network.members() > 1) {
    ParameterBlock block{Parameter::kMemberScale, 0, network.member_offset(), network.members() * network.inputs()};
    block.updated = !options.Freezes(0);
    block.rate = options.front_scale > 0 ? options.front_scale : 1;
    blocks_.push_back(block);
  }
  if (!training) {
    return;
  }
  const auto front = static_cast<size_t>(options.embedding_layers);
  if (options.front_scale > 0 && network.members() == 1) {
    AddBehind(Parameter::kFrontScale, front, layers[front].inputs, 1, options.front_scale);
  }
  const std::vector<bool> normalized =
      NormalizedLayers(layers, options.normalization, options.embedding_layers, options.frozen);
  for (size_t l = 0; l < normalized.size(); ++l) {
    if (normalized[l]) {  // γ learns as β does: at the rate of biases and without decay
      AddBehind(Parameter::kGamma, l, layers[l].outputs, 1, rates.empty() ? 1 : rates[l].bias);
      AddBehind(Parameter::kMean, l, layers[l].outputs, 0, 1, /*updated=*/false);
      AddBehind(Parameter::kVariance, l, layers[l].outputs, 1, 1, /*updated=*/false);
    }
  }
}

void ParameterTable::AddLayer(const Network& network, size_t l, const StepOptions& options, const LayerRates& rates) {
  const LayerSpec& spec = network.layers()[l];
  const LayerOffsets& at = network.offsets()[l];
  const bool updated = !options.Freezes(l);
  const int64_t blocks = network.blocks(l);
  blocks_.push_back(
      {Parameter::kWeights, l, at.weights, spec.weight_count() * blocks, updated, /*decays=*/true, rates.weights});
  if (spec.bias) {
    blocks_.push_back({Parameter::kBias, l, at.bias, spec.outputs * blocks, updated, /*decays=*/false, rates.bias});
  }
  if (spec.trained_radius) {
    blocks_.push_back(
        {Parameter::kRadius, l, at.radius, spec.outputs, updated, /*decays=*/false, /*rate=*/1, SmallestRadius(spec)});
  }
}

void ParameterTable::AddBehind(Parameter kind, size_t layer, int64_t count, double start, double rate, bool updated) {
  ParameterBlock block{kind, layer, elements_, count, updated};
  block.rate = rate;
  block.start = start;
  blocks_.push_back(block);
  elements_ += WholeLines(count);
}

const ParameterBlock* ParameterTable::Find(Parameter kind, size_t layer) const {
  const auto found = std::ranges::find_if(
      blocks_, [&](const ParameterBlock& block) { return block.kind == kind && block.layer == layer; });
  return found == blocks_.end() ? nullptr : &*found;
}

int64_t TrainedSize_bytes(const Network& network, const StepOptions& options) {
  return ParameterTable(network, options, /*training=*/true).elements() * DTypeSize_bytes(network.dtype());
}

}  // namespace lamina
