// Normalised layers: V, γ, β and the running statistics are what is trained, and what answers is one layer of all of
// them. γ and the statistics stand behind the other parameters in the flat arrays, β in the place of the bias.
#include <algorithm>
#include <cstring>

#include "lamina/backend/normalization.h"
#include "lamina/nn/executor.h"

namespace lamina {
namespace {

constexpr int64_t kCacheLine_elements = 16;

int64_t WholeLines(int64_t elements) {
  return (elements + kCacheLine_elements - 1) / kCacheLine_elements * kCacheLine_elements;
}

}  // namespace

int64_t FlatSize_bytes(const Network& network, bool front_scale, int64_t embedding_layers,
                       const std::vector<bool>& normalized) {
  const int64_t inputs = network.layers()[static_cast<size_t>(embedding_layers)].inputs;
  int64_t elements = front_scale && network.members() == 1 ? WholeLines(inputs) : 0;
  for (size_t l = 0; l < normalized.size(); ++l) {
    elements += normalized[l] ? 3 * WholeLines(network.layers()[l].outputs) : 0;
  }
  return network.parameter_bytes() + elements * DTypeSize_bytes(network.dtype());
}

void Executor::RequireNormalization() const {
  if (normalized_.empty()) {
    return;
  }
  if (HasMembers()) {
    throw Error(ErrorCode::kInvalidArgument, "networks of several members have no batch of one kind to normalise by",
                {.remedy = "Use one member, or no normalisation."});
  }
  if (std::find(normalized_.begin(), normalized_.end(), true) == normalized_.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "there is no layer to normalise: that needs a hidden layer of dot products",
                {.remedy = "Add one, or use no normalisation."});
  }
  for (size_t l = 0; l < normalized_.size(); ++l) {
    if (normalized_[l] && !specs_[l].bias) {
      throw Error(ErrorCode::kInvalidArgument, "a normalised layer has a bias, into which its mean is folded",
                  {.value = NeuronText(specs_[l]), .remedy = "Let the layer have one, or use no normalisation."});
    }
  }
}

// `offset`: of the first element behind the other parameters.
void Executor::PrepareNormalization(int64_t offset) {
  if (normalized_.empty()) {
    return;
  }
  const int64_t element = DTypeSize_bytes(dtype_);
  answers_ = backend_.Allocate(network_bytes_);
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (!IsNormalized(l)) {
      continue;
    }
    const LayerSpec& spec = specs_[l];
    auto state = std::make_unique<NormalizedState>();
    state->product = backend_.Prepare({{spec.inputs, spec.outputs, Synapse::kDot, Activation(), /*bias=*/false},
                                       dtype_,
                                       options_.max_batch,
                                       /*training=*/true,
                                       options_.step.precision,
                                       options_.any_slicing});
    state->z = backend_.Allocate(options_.max_batch * spec.outputs * element);
    state->inverse = backend_.Allocate(spec.outputs * element);
    for (int64_t* at : {&state->gamma, &state->mean, &state->variance}) {
      *at = offset;
      offset += WholeLines(spec.outputs);
    }
    layers_[l].normalized = std::move(state);
  }
}

void Executor::StartNormalization() noexcept {
  answers_follow_ = false;
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (!IsNormalized(l)) {
      continue;
    }
    DispatchFloat(dtype_, [&]<class T>(T) {
      T* const flat = static_cast<T*>(parameters_->data());
      const NormalizedState& state = *layers_[l].normalized;
      std::fill_n(flat + state.gamma, specs_[l].outputs, T(1));
      std::fill_n(flat + state.mean, specs_[l].outputs, T(0));
      std::fill_n(flat + state.variance, specs_[l].outputs, T(1));
    });
  }
}

NormalizationArrays Executor::NormalizationOf(size_t l) const {
  const NormalizedState& state = *layers_[l].normalized;
  return {ArraysAt(state.gamma).value, ArraysAt(offsets_[l].bias).value, ArraysAt(state.mean).value,
          ArraysAt(state.variance).value};
}

// The first steps' statistics weigh alike, then a new batch has kShare of them, as PyTorch's.
void Executor::NormalizeInStep(size_t l, ConstMatrixView x, int64_t step) noexcept {
  constexpr double kShare = 0.1;
  const LayerSpec& spec = specs_[l];
  NormalizedState& state = *layers_[l].normalized;
  ForwardArgs product;
  product.x = x;
  product.weights = TrainedWeights(l);
  product.a = View(state.z, x.rows, spec.outputs);
  state.product->Forward(product);
  NormalizeForwardArgs args;
  args.z = product.a;
  args.arrays = NormalizationOf(l);
  args.share = step == 0 ? 0 : std::max(kShare, 1 / static_cast<double>(step));
  args.keeps_answers = options_.step.starts_trained && static_cast<double>(step) * kShare <= 1;
  args.activation = &layers_[l].activation;
  args.inverse = state.inverse->data();
  args.y = View(layers_[l].z, x.rows, spec.outputs);
  args.a = View(layers_[l].a, x.rows, spec.outputs);
  backend_.NormalizeForward(args);
  answers_follow_ = false;
}

void Executor::NormalizeBack(size_t l, MatrixView delta) noexcept {
  const NormalizedState& state = *layers_[l].normalized;
  const ParameterArrays gamma = ArraysAt(state.gamma);
  backend_.NormalizeBackward({View(state.z, delta.rows, delta.cols), gamma.value, state.inverse->data(), delta,
                              gamma.gradient, ArraysAt(offsets_[l].bias).gradient});
}

// γ learns as β does, at the rate of biases and without decay.
void Executor::UpdateNormalization(const UpdateRule& rule) noexcept {
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (IsNormalized(l)) {
      UpdateRule slower = rule;
      slower.learning_rate *= rates_.empty() ? 1 : rates_[l].bias;
      UpdateArgs args;
      args.arrays = ArraysAt(layers_[l].normalized->gamma);
      args.count = specs_[l].outputs;
      args.dtype = dtype_;
      args.rule = &slower;
      backend_.Update(args);
    }
  }
  answers_follow_ = false;
}

// `network` is laid out like Network::parameters(), and holds what the layers have without their normalisation.
void Executor::FoldNormalizationInto(void* network) const noexcept {
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (IsNormalized(l)) {
      char* const flat = static_cast<char*>(network);
      const int64_t element = DTypeSize_bytes(dtype_);
      const LayerSpec& spec = specs_[l];
      FoldNormalization(NormalizationOf(l),
                        {flat + offsets_[l].weights * element, spec.outputs, spec.inputs, spec.inputs, dtype_},
                        flat + offsets_[l].bias * element);
    }
  }
}

// What evaluation reads; where nothing is normalised, what is trained.
const Buffer& Executor::AnsweringParameters() noexcept {
  if (normalized_.empty()) {
    return *parameters_;
  }
  if (!answers_follow_) {
    FoldInto(answers_->data());
    answers_follow_ = true;
  }
  return *answers_;
}

}  // namespace lamina
