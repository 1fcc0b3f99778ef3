// Forward and backward over the planned layers. The constructor plans each layer and allocates; Step() is forward,
// loss, backward.
#include "lamina/nn/executor.h"

#include <algorithm>
#include <cmath>

#include "lamina/backend/device_reductions.h"
#include "lamina/backend/training_steps.h"
#include "lamina/base/check.h"
#include "lamina/base/stop.h"
#include "lamina/base/team_choice.h"
#include "lamina/nn/dropout.h"
#include "lamina/nn/given_sums.h"
#include "lamina/nn/two_layers.h"

namespace lamina {
namespace {

// What the backend computes of a layer: with trained radii the distances, the rest is RadiusForward.
LayerSpec PlannedSpec(const LayerSpec& spec) {
  LayerSpec planned = spec;
  if (spec.trained_radius) {
    planned.activation = Activation();
    planned.trained_radius = false;
  }
  return planned;
}

// Both layers of a network in one pass, where the backend has that; null otherwise, and while training, which reads
// what the first one gives.
std::unique_ptr<TwoLayers> InOnePass(const Network& network, const Backend& backend, const ExecutorOptions& options) {
  const std::vector<LayerSpec>& specs = network.layers();
  const auto* const reduces = dynamic_cast<const ReducesOnDevice*>(&backend);
  if (reduces == nullptr || options.training || specs.size() != 2 || network.members() > 1 || specs[0].trained_radius ||
      specs[1].trained_radius) {
    return nullptr;
  }
  return reduces->PrepareTwoLayers(
      {specs[0], network.dtype(), options.max_batch, /*training=*/false, options.step.precision, options.any_slicing},
      specs[1]);
}

}  // namespace

Executor::Executor(const Network& network, const Backend& backend, const ExecutorOptions& options)
    : specs_(network.layers()),
      offsets_(network.offsets()),
      dtype_(network.dtype()),
      network_bytes_(network.parameter_bytes()),
      members_(network.members()),
      member_offset_(network.member_offset()),
      backend_(backend),
      options_(options),
      rates_(options.step.RatesOf(specs_)),
      techniques_(TechniquesOf(specs_, members_, options.step)),
      updates_apart_(!Accepts(Route::kFusedUpdate, techniques_)) {
  if (const Verdict verdict = Accepts(Route::kDevice, techniques_); backend.space() != Space::kHost && !verdict) {
    throw Error(ErrorCode::kUnsupported, verdict.reason,
                {.value = std::string(backend.name()), .remedy = "Use backend cpu, or leave it out."});
  }
  if (options_.training) {
    normalized_ =
        NormalizedLayers(specs_, options_.step.normalization, options_.step.embedding_layers, options_.step.frozen);
    RequireNormalization();
  }
  if (const Verdict verdict = LossAccepts(options.step.loss, specs_.back().activation); options.training && !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
  if (const Verdict verdict = LossSmooths(options.step.loss); options.step.label_smoothing > 0 && !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
  const int64_t element = DTypeSize_bytes(dtype_);
  const int64_t all_rows = options_.max_batch * members_;
  const auto rows_of = [&](int64_t rows, int64_t cols) { return backend.Allocate(rows * cols * element); };
  const auto batch_of = [&](int64_t cols) { return rows_of(all_rows, cols); };
  if (std::unique_ptr<TwoLayers> both = InOnePass(network, backend, options_)) {
    auto noted = std::make_unique<NotedLayer>();
    const NotedLayer& below = *noted;
    layers_.push_back({specs_[0].activation, std::move(noted)});
    layers_.push_back(
        {specs_[1].activation, std::make_unique<LayerOverNoted>(below, std::move(both)), batch_of(specs_[1].outputs)});
  }
  for (size_t l = layers_.size(); l < specs_.size(); ++l) {
    const LayerSpec& spec = specs_[l];
    if (const Verdict verdict = backend.SupportsTrainedRadius(); spec.trained_radius && !verdict) {
      throw Error(ErrorCode::kUnsupported, verdict.reason, {.value = NeuronText(spec)});
    }
    LayerState layer;
    layer.activation = spec.trained_radius ? spec.activation.WithRadius(1) : spec.activation;
    if (l == 0 && options_.first_sums_given) {
      layer.prepared = std::make_unique<GivenSums>(spec.activation, dtype_);
    } else {
      layer.prepared =
          backend.Prepare({PlannedSpec(spec), dtype_, all_rows / network.blocks(l),
                           options_.training && !IsNormalized(l), options_.step.precision, options_.any_slicing});
    }
    layer.a = batch_of(spec.outputs);
    if (options_.training && (spec.activation.slope_needs_input() || spec.trained_radius)) {
      layer.z = batch_of(spec.outputs);
    }
    if (options_.training && SynapseNeedsDistance(spec.synapse)) {
      layer.distance = batch_of(spec.outputs);
    }
    if (options_.training) {
      layer.delta = batch_of(spec.outputs);
    }
    layers_.push_back(std::move(layer));
  }
  input_ = rows_of(options_.max_batch, network.inputs());
  if (HasMembers()) {
    PrepareMembers();
  }
  const bool scales = options_.training && options_.step.front_scale > 0 && !HasMembers();
  Check(options_.step.embedding_layers < std::ssize(specs_), "there are layers behind the embeddings");
  if (scales) {
    PrepareFrontScale();
  }
  PrepareNormalization(FlatSize_bytes(network, scales, options_.step.embedding_layers) / element);
  const int64_t flat_bytes = FlatSize_bytes(network, scales, options_.step.embedding_layers, normalized_);
  parameters_ = backend.Allocate(flat_bytes);
  if (options_.training) {
    target_ = rows_of(options_.max_batch, network.outputs());
    gradients_ = backend.Allocate(flat_bytes);
    for (int i = 0; i < options_.state_count; ++i) {
      states_.push_back(backend.Allocate(flat_bytes));
    }
    PrepareDropout();
    PrepareSteps();
  }
  LoadParameters(network);
}

MatrixView Executor::View(const std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols) const {
  const MatrixView all{buffer == nullptr ? nullptr : buffer->data(), rows, cols, cols, dtype_, backend_.space()};
  return buffer == nullptr ? all : all.Rows(kept_, rows);
}

MatrixView Executor::PartOf(const std::unique_ptr<Buffer>& buffer, int64_t first, int64_t rows, int64_t cols) const {
  return buffer == nullptr ? MatrixView{} : View(buffer, first + rows, cols).Rows(first, rows);
}

MatrixView Executor::InputBatch(int64_t rows) const { return View(input_, rows, specs_.front().inputs); }
MatrixView Executor::TargetBatch(int64_t rows) const { return View(target_, rows, specs_.back().outputs); }

ParameterArrays Executor::ArraysAt(int64_t offset) const {
  const auto at = [&](const std::unique_ptr<Buffer>& buffer) -> void* {
    return static_cast<char*>(buffer->data()) + offset * DTypeSize_bytes(dtype_);
  };
  ParameterArrays arrays;
  arrays.value = at(parameters_);
  arrays.gradient = at(gradients_);
  for (size_t i = 0; i < states_.size(); ++i) {
    arrays.state[i] = at(states_[i]);
  }
  return arrays;
}

ConstMatrixView Executor::Forward(ConstMatrixView x) noexcept { return ForwardInStep(x, nullptr); }

ConstMatrixView Executor::ForwardInStep(ConstMatrixView x, const int64_t* step) noexcept {
  const int64_t rows = x.rows;
  x = HasMembers() ? ExpandInputs(x) : x;
  const Buffer& flat = step == nullptr ? AnsweringParameters() : *parameters_;
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (step != nullptr && IsNormalized(l)) {
      NormalizeInStep(l, x, *step);
    } else {
      ForwardLayer(l, x, flat);
    }
    const bool drops = step != nullptr && Drops(l);
    if (drops) {
      Drop(l, x.rows, *step);
    }
    x = View(drops ? layers_[l].dropped : layers_[l].a, x.rows, specs_[l].outputs);
  }
  return HasMembers() ? MeanOfMembers(rows) : x;
}

// What a layer was given in a step; `x` is the first one's.
ConstMatrixView Executor::InputOf(size_t l, ConstMatrixView x) const {
  return l == 0 ? x : View(Drops(l - 1) ? layers_[l - 1].dropped : layers_[l - 1].a, x.rows, specs_[l].inputs);
}

// `flat` begins like the network's parameters.
void Executor::ForwardLayer(size_t l, ConstMatrixView x, const Buffer& flat) noexcept {
  const LayerSpec& spec = specs_[l];
  const auto at = [&](int64_t offset) { return static_cast<char*>(flat.data()) + offset * DTypeSize_bytes(dtype_); };
  const int64_t rows = x.rows / Blocks(l);
  for (int64_t block = 0; block < Blocks(l); ++block) {
    const int64_t first = block * rows;
    const MatrixView a = View(layers_[l].a, x.rows, spec.outputs).Rows(first, rows);
    const MatrixView z = PartOf(layers_[l].z, first, rows, spec.outputs);
    ForwardArgs args;
    args.x = x.Rows(first, rows);
    args.weights = {IsFolded(l) && &flat == parameters_.get() ? folded_->data()
                                                              : at(offsets_[l].weights + block * spec.weight_count()),
                    spec.outputs,
                    spec.inputs,
                    spec.inputs,
                    dtype_,
                    backend_.space()};
    args.bias = spec.bias ? at(offsets_[l].bias + block * spec.outputs) : nullptr;
    args.a = a;
    args.z = spec.trained_radius ? MatrixView{} : z;
    args.distance = PartOf(layers_[l].distance, first, rows, spec.outputs);
    layers_[l].prepared->Forward(args);
    if (spec.trained_radius) {
      backend_.RadiusForward({a, at(offsets_[l].radius), &layers_[l].activation, z, a});
    }
  }
}

LossArgs Executor::LossArgsFor(ConstMatrixView targets, const void* sample_weights, LossSums* sums) const {
  LossArgs args;
  args.loss = options_.step.loss;
  args.activation = &layers_.back().activation;
  args.a = View(HasMembers() ? mean_ : layers_.back().a, targets.rows, specs_.back().outputs);
  if (!HasMembers()) {
    args.z = View(layers_.back().z, targets.rows, specs_.back().outputs);
  }
  args.targets = targets;
  args.sample_weights = sample_weights;
  args.class_threshold = options_.step.class_threshold;
  args.sums = sums;
  return args;
}

void Executor::Evaluate(ConstMatrixView x, ConstMatrixView targets, const void* sample_weights,
                        LossSums* sums) noexcept {
  Forward(x);
  backend_.ComputeLoss(LossArgsFor(targets, sample_weights, sums));
}

void Executor::Step(ConstMatrixView x, ConstMatrixView targets, const void* sample_weights, const UpdateRule* rule,
                    LossSums* sums) noexcept {
  const int64_t step = rule == nullptr ? 0 : rule->step;
  ForwardInStep(x, &step);
  LossArgs args = LossArgsFor(targets, sample_weights, sums);
  if (HasMembers()) {
    backend_.ComputeLoss(args);  // of the mean answer, which is what the network answers
    args = MemberLossArgs(targets, sample_weights);
  }
  args.delta = View(layers_.back().delta, args.targets.rows, specs_.back().outputs);
  args.label_smoothing = options_.step.label_smoothing;
  backend_.ComputeLoss(args);
  const bool apart = rule != nullptr && UpdatesApart();
  Backward(HasMembers() ? View(member_input_, args.targets.rows, x.cols) : x, apart ? nullptr : rule);
  if (HasMembers()) {
    MemberScaleGradient(x);
  }
  KeepZeros();
  if (apart) {
    Update(*rule);
  }
}

// A layer's weights are updated only after its input gradient, which reads them, is done. The first layer has none,
// and neither have layers below which all are frozen.
void Executor::Backward(ConstMatrixView x, const UpdateRule* rule) noexcept {
  for (size_t l = layers_.size(); l-- > first_trained_;) {
    const int64_t rows = x.rows / Blocks(l);
    for (int64_t block = 0; block < Blocks(l); ++block) {
      BackwardLayer(l, block, x, block * rows, rows, rule);
    }
  }
}

void Executor::BackwardLayer(size_t l, int64_t block, ConstMatrixView x, int64_t first, int64_t rows,
                             const UpdateRule* rule) noexcept {
  const LayerSpec& spec = specs_[l];
  const ParameterArrays weights = ArraysAt(offsets_[l].weights + block * spec.weight_count());
  const MatrixView delta = PartOf(layers_[l].delta, first, rows, spec.outputs);
  const ConstMatrixView distance = PartOf(layers_[l].distance, first, rows, spec.outputs);
  const ConstMatrixView input = InputOf(l, x).Rows(first, rows);
  PreparedLayer& prepared = IsNormalized(l) ? *layers_[l].normalized->product : *layers_[l].prepared;
  if (IsNormalized(l)) {
    NormalizeBack(l, delta);
  }
  if (spec.trained_radius) {
    ParameterArrays radii = ArraysAt(offsets_[l].radius);
    if (IsFrozen(l)) {
      radii.gradient = unused_radii_->data();
    }
    backend_.RadiusBackward({PartOf(layers_[l].z, first, rows, spec.outputs), delta, radii,
                             IsFrozen(l) ? nullptr : rule, SmallestRadius(spec)});
  }
  const bool of_members = l == 0 && HasMembers();
  if (l > first_trained_ || of_members) {
    InputGradientArgs args;
    args.delta = delta;
    args.weights = {IsFolded(l) ? folded_->data() : weights.value,
                    spec.outputs,
                    spec.inputs,
                    spec.inputs,
                    dtype_,
                    backend_.space()};
    args.x = input;
    if (l > 0 && Drops(l - 1)) {  // the slope is by what the activation gave
      args.x = View(layers_[l - 1].a, x.rows, spec.inputs).Rows(first, rows);
    }
    if (of_members) {
      args.out = View(member_input_delta_, rows, spec.inputs);
    } else {
      args.previous = &layers_[l - 1].activation;
      args.previous_z = PartOf(layers_[l - 1].z, first, rows, spec.inputs);
      args.out = PartOf(layers_[l - 1].delta, first, rows, spec.inputs);
    }
    args.distance = distance;
    prepared.InputGradient(args);
    if (l > 0 && Drops(l - 1)) {
      MultiplyInPlace(args.out, PartOf(layers_[l - 1].mask, first, rows, spec.inputs));
    }
  }
  if (IsFrozen(l) || deltas_only_) {
    return;
  }
  WeightGradientArgs args;
  args.x = input;
  args.delta = delta;
  args.weights = weights;
  args.bias = spec.bias && !IsNormalized(l) ? ArraysAt(offsets_[l].bias + block * spec.outputs) : ParameterArrays{};
  args.rule = rule;
  args.distance = distance;
  prepared.WeightGradient(args);
}

void Executor::Predict(ConstMatrixView x, MatrixView out) {
  const int64_t element = DTypeSize_bytes(dtype_);
  for (int64_t begin = 0; begin < x.rows; begin += options_.max_batch) {
    const int64_t rows = std::min(options_.max_batch, x.rows - begin);
    const MatrixView batch = InputBatch(rows);
    const int64_t together = x.stride == batch.stride ? rows : 1;  // rows of one copy
    for (int64_t i = 0; i < rows; i += together) {
      backend_.Upload(batch.Rows(i, together).data, x.Rows(begin + i, together).data, together * x.cols * element);
    }
    const ConstMatrixView y = Forward(batch);
    const int64_t out_together = out.stride == y.stride ? rows : 1;
    for (int64_t i = 0; i < rows; i += out_together) {
      backend_.Download(out.Rows(begin + i, out_together).data, y.Rows(i, out_together).data,
                        out_together * y.cols * element);
    }
    StopPoint();
  }
}

Executor::~Executor() = default;

std::vector<std::string> Executor::Describe() const {
  std::vector<std::string> lines;
  for (const LayerState& layer : layers_) {
    lines.push_back(layer.normalized == nullptr ? layer.prepared->Describe()
                                                : layer.normalized->product->Describe() + ", normalised by the batch");
  }
  if (network_ != nullptr) {
    lines.push_back("training steps: " + network_->Describe());
  }
  return lines;
}

}  // namespace lamina
