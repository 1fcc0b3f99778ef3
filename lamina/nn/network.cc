// Layout and initialization of the parameters.
#include "lamina/nn/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lamina/base/names.h"
#include "lamina/base/random.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr int64_t kAlignment_elements = 16;  // 64 bytes of f32
constexpr int64_t kMostMembers = 4096;
constexpr int64_t kMaxParameters = int64_t{1} << 40;
constexpr Named<Initialization> kInitializations[] = {{"glorot_uniform", Initialization::kGlorotUniform},
                                                      {"glorot_normal", Initialization::kGlorotNormal},
                                                      {"he_uniform", Initialization::kHeUniform},
                                                      {"he_normal", Initialization::kHeNormal},
                                                      {"ntk", Initialization::kNtk}};

int64_t Align(int64_t n) { return (n + kAlignment_elements - 1) / kAlignment_elements * kAlignment_elements; }

}  // namespace

std::string_view InitializationName(Initialization initialization) { return NameOf(initialization, kInitializations); }

std::vector<std::string> InitializationNames() { return NamesIn(kInitializations); }

Initialization ParseInitialization(std::string_view name) {
  return ParseName(name, kInitializations, "unknown initialization");
}

namespace {

Verdict CheckBlocks(std::span<const LayerSpec> layers) {
  int64_t free = 0;  // layers since the last block
  for (size_t l = 0; l < layers.size(); ++l) {
    ++free;
    const LayerSpec& end = layers[l];
    if (end.residual == 0) {
      continue;
    }
    if (end.residual < 0 || end.residual > free) {
      return Verdict::No(fmt::format("the residual block that ends with layer {} has {} layers, and {} are free", l + 1,
                                     end.residual, free));
    }
    if (l + 1 == layers.size()) {
      return Verdict::No("the output layer cannot be in a residual block: blocks are of hidden layers");
    }
    const LayerSpec& begin = layers[l + 1 - static_cast<size_t>(end.residual)];
    if (begin.inputs != end.outputs) {
      return Verdict::No(
          fmt::format("the residual block that ends with layer {} takes {} inputs and gives {}: they are "
                      "added, so it needs as many neurons as inputs",
                      l + 1, begin.inputs, end.outputs));
    }
    free = 0;
  }
  return Verdict::Yes();
}

}  // namespace

Verdict Network::CheckLayers(std::span<const LayerSpec> layers, DType dtype, int64_t members) {
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    return Verdict::No(fmt::format("networks are trained in f32 or f64, not {}", DTypeName(dtype)));
  }
  if (layers.empty()) {
    return Verdict::No("a network needs at least one layer");
  }
  if (members < 1 || members > kMostMembers) {
    return Verdict::No(fmt::format("a network has 1 to {} members, not {}", kMostMembers, members));
  }
  if (members > 1 && (layers.size() < 2 || layers.front().synapse != Synapse::kDot ||
                      layers.back().synapse != Synapse::kDot || layers.back().trained_radius)) {
    return Verdict::No("members share hidden layers: a network of them has such, and its first and last layer are dot");
  }
  int64_t total = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    const LayerSpec& layer = layers[l];
    if (layer.inputs <= 0 || layer.outputs <= 0) {
      return Verdict::No(fmt::format("layer {} has {} inputs and {} neurons; both must be at least 1", l + 1,
                                     layer.inputs, layer.outputs));
    }
    if (l > 0 && layers[l - 1].outputs != layer.inputs) {
      return Verdict::No(fmt::format("layer {} takes {} inputs, but layer {} has {} neurons", l + 1, layer.inputs, l,
                                     layers[l - 1].outputs));
    }
    if (layer.activation.is_softmax() && l + 1 != layers.size()) {
      return Verdict::No(fmt::format("softmax in layer {}: it is for the output layer only", l + 1));
    }
    if (const Verdict verdict = CheckNeuron(layer); !verdict) {
      return Verdict::No(fmt::format("layer {}: {}", l + 1, verdict.reason));
    }
    int64_t weights = 0;
    const int64_t blocks = l + 1 == layers.size() ? members : 1;
    if (__builtin_mul_overflow(layer.inputs, layer.outputs * blocks, &weights) || weights > kMaxParameters ||
        (total += weights + layer.outputs) > kMaxParameters) {
      return Verdict::No(fmt::format("layer {} of {} x {} weights is too large", l + 1, layer.outputs, layer.inputs));
    }
  }
  return CheckBlocks(layers);
}

Network::Network(std::vector<LayerSpec> layers, DType dtype, int64_t members)
    : layers_(std::move(layers)), dtype_(dtype), members_(members) {
  if (const Verdict verdict = CheckLayers(layers_, dtype, members); !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
  int64_t end = 0;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const LayerSpec& layer = layers_[l];
    LayerOffsets offsets;
    offsets.weights = end;
    offsets.bias = Align(end + layer.weight_count() * blocks(l));
    offsets.radius = Align(offsets.bias + (layer.bias ? layer.outputs * blocks(l) : 0));
    offsets_.push_back(offsets);
    end = Align(offsets.radius + (layer.trained_radius ? layer.outputs : 0));
  }
  member_offset_ = end;
  end = Align(end + (members_ > 1 ? members_ * inputs() : 0));
  parameters_ = ParameterArray(end, dtype_);
  InitializeRadii();
}

void Network::Initialize(Initialization initialization, uint64_t seed) {
  for (size_t l = 0; l < layers_.size(); ++l) {
    const LayerSpec& layer = layers_[l];
    const bool glorot =
        initialization == Initialization::kGlorotUniform || initialization == Initialization::kGlorotNormal;
    const bool uniform =
        initialization == Initialization::kGlorotUniform || initialization == Initialization::kHeUniform;
    const double fan = static_cast<double>(glorot ? layer.inputs + layer.outputs : layer.inputs);
    const bool ntk = initialization == Initialization::kNtk;
    const double scale = std::sqrt((uniform ? 6.0 : ntk ? 1.0 : 2.0) / fan);
    Random random(seed, l);
    DispatchFloat(dtype_, [&]<class T>(T) {
      T* w = Weights(l).Row<T>(0);
      for (int64_t n = 0; n < layer.weight_count() * blocks(l); ++n) {
        w[n] = static_cast<T>(uniform ? random.Uniform(-scale, scale) : scale * random.Normal());
      }
      T* bias = static_cast<T*>(Bias(l));
      for (int64_t j = 0; bias != nullptr && j < layer.outputs * blocks(l); ++j) {
        bias[j] = ntk ? static_cast<T>(random.Normal()) : T(0);
      }
    });
  }
  InitializeRadii();
  Random random(seed, layers_.size());
  DispatchFloat(dtype_, [&]<class T>(T) {
    T* scale = MemberScales().empty() ? nullptr : MemberScales().Row<T>(0);
    for (int64_t n = 0; scale != nullptr && n < members_ * inputs(); ++n) {
      scale[n] = random.Below(2) == 0 ? T(1) : T(-1);
    }
  });
}

Network Network::WithOutput(const Activation& activation) const {
  Network copy = *this;
  copy.layers_.back().activation = activation;
  return copy;
}

void Network::ClearLayer(size_t layer) {
  std::memset(parameters_.At(offsets_[layer].weights), 0,
              static_cast<size_t>((offsets_[layer].radius - offsets_[layer].weights) * DTypeSize_bytes(dtype_)));
}

void Network::InitializeRadii() {
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (layers_[l].trained_radius) {
      DispatchFloat(dtype_, [&]<class T>(T) {
        std::fill_n(static_cast<T*>(Radii(l)), layers_[l].outputs, static_cast<T>(layers_[l].activation.radius()));
      });
    }
  }
}

int64_t Network::parameter_count() const {
  int64_t count = 0;
  for (const LayerSpec& layer : layers_) {
    count += layer.parameter_count();
  }
  const LayerSpec& last = layers_.back();
  count += (members_ - 1) * (last.weight_count() + (last.bias ? last.outputs : 0));
  count += members_ > 1 ? members_ * inputs() : 0;
  return count;
}

MatrixView Network::WeightsAt(size_t layer) const {
  const LayerSpec& spec = layers_[layer];
  return {parameters_.At(offsets_[layer].weights),
          spec.outputs * blocks(layer),
          spec.inputs,
          spec.inputs,
          dtype_,
          Space::kHost};
}

bool Network::BeginsResidual(size_t layer) const {
  const auto end = std::find_if(layers_.begin() + static_cast<std::ptrdiff_t>(layer), layers_.end(),
                                [](const LayerSpec& spec) { return spec.residual > 0; });
  return end != layers_.end() && end - layers_.begin() + 1 - end->residual == static_cast<std::ptrdiff_t>(layer);
}

MatrixView Network::MemberScales() const {
  return members_ == 1 ? MatrixView{}
                       : MatrixView{parameters_.At(member_offset_), members_, inputs(), inputs(), dtype_};
}

MatrixView Network::Weights(size_t layer) { return WeightsAt(layer); }

ConstMatrixView Network::Weights(size_t layer) const { return WeightsAt(layer); }

std::shared_ptr<const SparseMatrix> Network::ListedWeights(size_t layer) const {
  return parameters_.ListAt(offsets_[layer].weights);
}

void Network::ListWeights(size_t layer, std::shared_ptr<const SparseMatrix> weights) {
  parameters_.Keep(offsets_[layer].weights, std::move(weights));
}

void* Network::Bias(size_t layer) const { return layers_[layer].bias ? parameters_.At(offsets_[layer].bias) : nullptr; }

void* Network::Radii(size_t layer) const {
  return layers_[layer].trained_radius ? parameters_.At(offsets_[layer].radius) : nullptr;
}

std::string Network::ShapeText() const {
  std::string text = fmt::format("{}", inputs());
  for (const LayerSpec& layer : layers_) {
    text += fmt::format("-{}", layer.outputs);
  }
  return members_ == 1 ? text : text + fmt::format(", {} members", members_);
}

void CloseResidual(std::vector<std::string>& parts, int64_t count) {
  const auto begin = parts.end() - static_cast<std::ptrdiff_t>(std::min<int64_t>(count, std::ssize(parts)));
  const std::string block = fmt::format("{}{})", kResidualText, fmt::join(begin, parts.end(), ","));
  parts.erase(begin, parts.end());
  parts.push_back(block);
}

std::string LayersText(std::span<const LayerSpec> layers) {
  std::vector<std::string> parts;
  for (const LayerSpec& layer : layers) {
    parts.push_back(fmt::format("{}:{}", NeuronText(layer), layer.outputs));
    if (layer.residual > 0) {
      CloseResidual(parts, layer.residual);
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<LayerSpec> ParseLayers(std::string_view text, int64_t inputs, bool bias,
                                   std::span<const Activation> custom) {
  std::vector<LayerSpec> layers;
  std::string pending;  // commas inside an activation's parentheses do not separate layers
  for (const std::string_view piece : SplitText(text, ',')) {
    pending += (pending.empty() ? "" : ",") + std::string(piece);
    if (std::count(pending.begin(), pending.end(), '(') != std::count(pending.begin(), pending.end(), ')')) {
      continue;
    }
    if (pending.starts_with(kResidualText) && pending.ends_with(')')) {
      const std::string inside = pending.substr(kResidualText.size(), pending.size() - kResidualText.size() - 1);
      std::vector<LayerSpec> block = ParseLayers(inside, inputs, bias, custom);
      if (std::ranges::any_of(block, [](const LayerSpec& layer) { return layer.residual > 0; })) {
        throw Error(ErrorCode::kInvalidArgument, "a residual block has none inside", {.value = pending});
      }
      block.back().residual = std::ssize(block);
      inputs = block.back().outputs;
      layers.insert(layers.end(), block.begin(), block.end());
      pending.clear();
      continue;
    }
    const size_t colon = pending.rfind(':');
    const std::string_view neuron = std::string_view(pending).substr(0, colon);
    const auto outputs =
        colon == std::string::npos ? std::nullopt : ParseInteger(std::string_view(pending).substr(colon + 1));
    if (!outputs) {
      throw Error(ErrorCode::kInvalidArgument, "a layer is written synapse-activation:neurons",
                  {.value = pending, .remedy = "Write for example dot-tanh:256,dot-softmax:10."});
    }
    LayerSpec layer = ParseNeuron(neuron, custom);
    layer.inputs = inputs;
    layer.outputs = *outputs;
    layer.bias = layer.bias && (bias || neuron.ends_with("-bias"));
    layers.push_back(layer);
    inputs = *outputs;
    pending.clear();
  }
  if (!pending.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "unbalanced parentheses in the layers", {.value = pending});
  }
  return layers;
}

}  // namespace lamina
