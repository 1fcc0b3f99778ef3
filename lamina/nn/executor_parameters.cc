// The parameters of an executor: in and out, the front scale, and their update once all gradients are there.
#include <algorithm>
#include <cstring>

#include "lamina/base/check.h"
#include "lamina/nn/dropout.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/front_scale.h"

namespace lamina {
namespace {

// Throws where the front scale cannot be.
void RequireFrontScale(std::span<const LayerSpec> layers, const ExecutorOptions& options) {
  const auto front = static_cast<size_t>(options.step.embedding_layers);
  if (layers[front].synapse != Synapse::kDot) {
    throw Error(ErrorCode::kInvalidArgument, "a front scale belongs to a first layer of dot products",
                {.value = NeuronText(layers[front]), .remedy = "Leave it out, or begin with a dot layer."});
  }
  if (!options.step.frozen.empty() && options.step.frozen[front]) {
    throw Error(ErrorCode::kInvalidArgument, "a front scale needs a first layer that is trained, and it is frozen");
  }
}

}  // namespace

void Executor::PrepareDropout() {
  if (options_.step.dropout == 0) {
    return;
  }
  for (size_t l = FrontLayer(); l + 1 < layers_.size(); ++l) {
    if (IsDistance(specs_[l + 1].synapse)) {
      throw Error(ErrorCode::kInvalidArgument, "dropout stands in front of layers of dot products",
                  {.value = NeuronText(specs_[l + 1]), .remedy = "Leave it out, or use dot layers."});
    }
    layers_[l].mask = backend_.Allocate(layers_[l].a->size_bytes());
    layers_[l].dropped = backend_.Allocate(layers_[l].a->size_bytes());
  }
}

void Executor::Drop(size_t l, int64_t rows, int64_t step) noexcept {
  const int64_t cols = specs_[l].outputs;
  const MatrixView mask = View(layers_[l].mask, rows, cols);
  const uint64_t stream = kDropoutStreams + static_cast<uint64_t>(step) * layers_.size() + l;
  FillDropoutMask(options_.step.dropout, options_.step.seed, stream, mask);
  Multiply(View(layers_[l].a, rows, cols), mask, View(layers_[l].dropped, rows, cols));
}

void Executor::KeepZeros() noexcept {
  for (size_t l = first_trained_; l < FrontLayer(); ++l) {
    const ConstMatrixView weights = WeightsIn(*parameters_, l);
    const MatrixView gradient = WeightsIn(*gradients_, l);
    DispatchFloat(dtype_, [&]<class T>(T) {
      const T* w = weights.Row<T>(0);
      T* g = gradient.Row<T>(0);
      for (int64_t n = 0; n < specs_[l].weight_count(); ++n) {
        g[n] = w[n] == T(0) ? T(0) : g[n];
      }
    });
  }
}

void Executor::PrepareFrontScale() {
  RequireFrontScale(specs_, options_);
  folded_ = backend_.Allocate(specs_[FrontLayer()].weight_count() * DTypeSize_bytes(dtype_));
  front_offset_ = network_bytes_ / DTypeSize_bytes(dtype_);
}

// A trained radius stays at or above a share of the one it started with: at 0 its neuron has no gradient, and below it
// is no distance.
double Executor::SmallestRadius(const LayerSpec& spec) {
  constexpr double kSmallestShare = 1e-3;
  return kSmallestShare * spec.activation.radius();
}

void Executor::LoadParameters(const Network& network) {
  backend_.Upload(parameters_->data(), network.parameters(), network.parameter_bytes());
  if (HasFrontScale()) {
    DispatchFloat(dtype_, [&]<class T>(T) {
      std::fill_n(static_cast<T*>(parameters_->data()) + front_offset_, specs_[FrontLayer()].inputs, T(1));
    });
    Fold();
  }
  StartNormalization();
}

void Executor::StoreParameters(Network& network) const {
  const AlignedBuffer folded = FoldedParameters();
  std::memcpy(network.parameters(), folded.data(), static_cast<size_t>(folded.size_bytes()));
}

// Of a layer with one block; `buffer` is laid out like the parameters.
MatrixView Executor::WeightsIn(const Buffer& buffer, size_t layer) const {
  const LayerSpec& spec = specs_[layer];
  char* at = static_cast<char*>(buffer.data()) + offsets_[layer].weights * DTypeSize_bytes(dtype_);
  return {at, spec.outputs, spec.inputs, spec.inputs, dtype_, backend_.space()};
}

// What a layer's products are computed with in a training step; of a layer with one block.
ConstMatrixView Executor::TrainedWeights(size_t layer) const {
  return IsFolded(layer) ? FoldedWeights() : WeightsIn(*parameters_, layer);
}

MatrixView Executor::FoldedWeights() const {
  const LayerSpec& spec = specs_[FrontLayer()];
  return {folded_->data(), spec.outputs, spec.inputs, spec.inputs, dtype_, backend_.space()};
}

void Executor::Fold() noexcept {
  FoldFrontScale(WeightsIn(*parameters_, FrontLayer()), ArraysAt(front_offset_).value, FoldedWeights());
}

// `network` on the host, laid out like Network::parameters().
void Executor::FoldInto(void* network) const {
  backend_.Download(network, parameters_->data(), network_bytes_);
  if (HasFrontScale()) {
    std::memcpy(static_cast<char*>(network) + offsets_[FrontLayer()].weights * DTypeSize_bytes(dtype_), folded_->data(),
                static_cast<size_t>(folded_->size_bytes()));
  }
  FoldNormalizationInto(network);
}

AlignedBuffer Executor::FoldedParameters() const {
  AlignedBuffer folded(network_bytes_);
  FoldInto(folded.data());
  return folded;
}

AlignedBuffer Executor::TrainedParameters() const {
  AlignedBuffer trained(parameters_->size_bytes());
  backend_.Download(trained.data(), parameters_->data(), trained.size_bytes());
  return trained;
}

void Executor::SetTrainedParameters(const AlignedBuffer& trained) {
  backend_.Upload(parameters_->data(), trained.data(), trained.size_bytes());
  answers_follow_ = false;
  if (HasFrontScale()) {
    Fold();
  }
}

// The gaps between the arrays of gradients are zero.
void Executor::Update(const UpdateRule& rule) noexcept {
  const ParameterArrays front = ArraysAt(front_offset_);
  if (HasFrontScale()) {
    SplitFrontScaleGradient(WeightsIn(*parameters_, FrontLayer()), front.value, WeightsIn(*gradients_, FrontLayer()),
                            front.gradient);
  }
  if (options_.step.clip_norm > 0) {
    backend_.ClipGradient({gradients_->data(), gradients_->size_bytes() / DTypeSize_bytes(dtype_), dtype_,
                           options_.step.clip_norm, static_cast<double*>(clip_parts_->data())});
  }
  const auto at_rate = [&](double factor) {
    UpdateRule slower = rule;
    slower.learning_rate *= factor;
    return slower;
  };
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (IsFrozen(l)) {
      continue;
    }
    const LayerSpec& spec = specs_[l];
    const LayerRates rates = rates_.empty() ? LayerRates{} : rates_[l];
    const UpdateRule weight_rule = at_rate(rates.weights);
    const UpdateRule bias_rule = at_rate(rates.bias);
    UpdateArgs args;
    args.dtype = dtype_;
    args.rule = &weight_rule;
    args.arrays = ArraysAt(offsets_[l].weights);
    args.count = spec.weight_count() * Blocks(l);
    args.decay = true;
    backend_.Update(args);
    args.decay = false;
    args.count = spec.outputs * Blocks(l);
    if (spec.bias) {
      args.rule = &bias_rule;
      args.arrays = ArraysAt(offsets_[l].bias);
      backend_.Update(args);
    }
    if (spec.trained_radius) {
      args.rule = &rule;
      args.arrays = ArraysAt(offsets_[l].radius);
      args.smallest = SmallestRadius(spec);
      backend_.Update(args);
    }
  }
  if (HasFrontScale() || (HasMembers() && !IsFrozen(0))) {
    const UpdateRule front_rule = at_rate(options_.step.front_scale > 0 ? options_.step.front_scale : 1);
    UpdateArgs args;
    args.arrays = HasMembers() ? ArraysAt(member_offset_) : front;
    args.count = HasMembers() ? members_ * specs_.front().inputs : specs_[FrontLayer()].inputs;
    args.dtype = dtype_;
    args.rule = &front_rule;
    backend_.Update(args);
  }
  UpdateNormalization(rule);
  if (HasFrontScale()) {
    Fold();
  }
}

}  // namespace lamina
