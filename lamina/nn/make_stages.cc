// What is asked of the layers, then one stage after another.
#include "lamina/nn/make_stages.h"

#include <algorithm>

#include "lamina/backend/device_reductions.h"
#include "lamina/nn/given_sums.h"
#include "lamina/nn/stages/dense.h"
#include "lamina/nn/stages/dropout.h"
#include "lamina/nn/stages/members.h"
#include "lamina/nn/stages/normalized.h"
#include "lamina/nn/stages/residual.h"
#include "lamina/nn/stages/trained_radius.h"
#include "lamina/nn/two_layers.h"

namespace lamina {
namespace {

// What the backend computes of a layer: with trained radii the distances. The rest is stages of its own.
LayerSpec PlannedSpec(const LayerSpec& spec) {
  LayerSpec planned = spec;
  planned.residual = 0;
  if (spec.trained_radius) {
    planned.activation = Activation();
    planned.trained_radius = false;
  }
  return planned;
}

void RequireFrontScale(const LayerSpec& front, bool frozen) {
  if (front.synapse != Synapse::kDot) {
    throw Error(ErrorCode::kInvalidArgument, "a front scale belongs to a first layer of dot products",
                {.value = NeuronText(front), .remedy = "Leave it out, or begin with a dot layer."});
  }
  if (frozen) {
    throw Error(ErrorCode::kInvalidArgument, "a front scale needs a first layer that is trained, and it is frozen");
  }
}

void RequireNormalization(const Network& network, const std::vector<bool>& normalized) {
  if (normalized.empty()) {
    return;
  }
  if (network.members() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "networks of several members have no batch of one kind to normalize by",
                {.remedy = "Use one member, or no normalization."});
  }
  if (std::find(normalized.begin(), normalized.end(), true) == normalized.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "there is no layer to normalize: that needs a hidden layer of dot products",
                {.remedy = "Add one, or use no normalization."});
  }
  for (size_t l = 0; l < normalized.size(); ++l) {
    if (const LayerSpec& spec = network.layers()[l]; normalized[l] && !spec.bias) {
      throw Error(ErrorCode::kInvalidArgument, "a normalized layer has a bias, into which its mean is folded",
                  {.value = NeuronText(spec), .remedy = "Let the layer have one, or use no normalization."});
    }
  }
}

void RequireDropout(const std::vector<LayerSpec>& layers, size_t first) {
  for (size_t l = first; l + 1 < layers.size(); ++l) {
    if (IsDistance(layers[l + 1].synapse)) {
      throw Error(ErrorCode::kInvalidArgument, "dropout stands in front of layers of dot products",
                  {.value = NeuronText(layers[l + 1]), .remedy = "Leave it out, or use dot layers."});
    }
  }
}

class StageMaker {
 public:
  StageMaker(StageMemory& memory, const StageRequest& request)
      : memory_(memory),
        request_(request),
        layers_(request.network.layers()),
        rows_(request.max_batch * request.network.members()) {}

  Stages Make() {
    const StepOptions& options = request_.options;
    if (request_.training) {
      RequireNormalization(request_.network,
                           NormalizedLayers(layers_, options.normalization, options.embedding_layers, options.frozen));
    }
    if (const int64_t members = request_.network.members(); members > 1) {
      stages_.all.push_back(std::make_unique<MembersStage>(memory_, members, request_.network.inputs(),
                                                           request_.network.member_offset(), request_.max_batch,
                                                           request_.training, options.Freezes(0)));
    }
    if (!InOnePass()) {
      for (size_t l = 0; l < layers_.size(); ++l) {
        AddLayer(l);
      }
    }
    return std::move(stages_);
  }

 private:
  LayerPlanRequest PlanOf(const LayerSpec& spec, int64_t rows, bool training) const {
    return {spec, memory_.dtype, rows, training, request_.options.precision, request_.any_slicing};
  }

  DenseLayer Describe(size_t l) const {
    DenseLayer layer;
    layer.index = l;
    layer.spec = PlannedSpec(layers_[l]);
    layer.offsets = request_.network.offsets()[l];
    layer.rows = rows_;
    layer.blocks = request_.network.blocks(l);
    layer.frozen = request_.options.Freezes(l);
    layer.sparse = static_cast<int64_t>(l) < request_.options.embedding_layers;
    layer.training = request_.training;
    return layer;
  }

  // Both layers of a network in one pass, where the backend has that; not while training, which reads what the first
  // one gives.
  bool InOnePass() {
    const auto* const reduces = dynamic_cast<const ReducesOnDevice*>(&memory_.backend);
    if (reduces == nullptr || request_.training || layers_.size() != 2 || request_.network.members() > 1 ||
        layers_[0].trained_radius || layers_[1].trained_radius || layers_[0].residual > 0) {
      return false;
    }
    std::unique_ptr<TwoLayers> both =
        reduces->PrepareTwoLayers(PlanOf(layers_[0], rows_, /*training=*/false), layers_[1]);
    if (both == nullptr) {
      return false;
    }
    auto noted = std::make_unique<NotedLayer>();
    auto over = std::make_unique<LayerOverNoted>(*noted, std::move(both));
    DenseLayer below = Describe(0);
    below.rows = 0;  // its results are never stored
    Add(std::make_unique<DenseStage>(memory_, below, std::move(noted)));
    Add(std::make_unique<DenseStage>(memory_, Describe(1), std::move(over)));
    return true;
  }

  void Add(std::unique_ptr<DenseStage> stage) {
    if (request_.training && !stages_.of_layers.empty() && stages_.of_layers.back() == stages_.all.back().get()) {
      stage->AskForSlopes(*stages_.of_layers.back());
    }
    stages_.of_layers.push_back(stage.get());
    stages_.all.push_back(std::move(stage));
  }

  void BeginBlock(size_t l) {
    if (l == 0 && request_.first_sums_given) {
      throw Error(ErrorCode::kUnsupported,
                  "a residual block adds its inputs, and only the first layer's sums are given");
    }
    const Stage* const below = stages_.all.empty() ? nullptr : stages_.all.back().get();
    auto begin = std::make_unique<ResidualBegin>(memory_, below, rows_, layers_[l].inputs, request_.training);
    block_ = begin.get();
    stages_.all.push_back(std::move(begin));
  }

  void EndBlock(size_t l) {
    auto end = std::make_unique<ResidualEnd>(memory_, *block_, rows_, layers_[l].outputs, request_.training);
    block_->SetEnd(*end);
    stages_.all.push_back(std::move(end));
  }

  void AddLayer(size_t l) {
    const LayerSpec& spec = layers_[l];
    const DenseLayer layer = Describe(l);
    if (request_.network.BeginsResidual(l)) {
      BeginBlock(l);
    }
    std::unique_ptr<DenseStage> dense = MakeDense(layer);
    if (const ParameterBlock* const scale = request_.table.Find(Parameter::kFrontScale, l)) {
      RequireFrontScale(spec, layer.frozen);
      dense->SetFrontScale(*scale);
    }
    Add(std::move(dense));
    if (spec.trained_radius) {
      stages_.all.push_back(std::make_unique<TrainedRadiusStage>(
          memory_, *stages_.all.back(), spec, layer.offsets.radius, rows_, request_.training, layer.frozen));
    }
    const StepOptions& options = request_.options;
    if (request_.training && options.dropout > 0 && !layer.sparse && l + 1 < layers_.size()) {
      RequireDropout(layers_, l);
      stages_.all.push_back(std::make_unique<DropoutStage>(
          memory_, *stages_.all.back(), DropoutStage::Stream{options.dropout, options.seed, l, layers_.size()}, rows_,
          spec.outputs));
    }
    if (spec.residual > 0) {
      EndBlock(l);
    }
  }

  std::unique_ptr<DenseStage> MakeDense(const DenseLayer& layer) const {
    const Backend& backend = memory_.backend;
    if (layer.index == 0 && request_.first_sums_given) {
      return std::make_unique<DenseStage>(memory_, layer,
                                          std::make_unique<GivenSums>(layer.spec.activation, memory_.dtype));
    }
    const ParameterBlock* const gamma = request_.table.Find(Parameter::kGamma, layer.index);
    const int64_t rows = rows_ / layer.blocks;
    std::unique_ptr<PreparedLayer> prepared =
        backend.Prepare(PlanOf(layer.spec, rows, request_.training && gamma == nullptr));
    if (gamma == nullptr) {
      return std::make_unique<DenseStage>(memory_, layer, std::move(prepared));
    }
    const LayerSpec product{layer.spec.inputs, layer.spec.outputs, Synapse::kDot, Activation(), /*bias=*/false};
    return std::make_unique<NormalizedStage>(
        memory_, layer, std::move(prepared), backend.Prepare(PlanOf(product, rows, /*training=*/true)),
        NormalizedStage::Offsets{gamma->offset, request_.table.Find(Parameter::kMean, layer.index)->offset,
                                 request_.table.Find(Parameter::kVariance, layer.index)->offset},
        request_.options.starts_trained);
  }

  StageMemory& memory_;
  const StageRequest& request_;
  const std::vector<LayerSpec>& layers_;
  int64_t rows_;
  ResidualBegin* block_ = nullptr;  // the last one that began
  Stages stages_;
};

}  // namespace

Stages MakeStages(StageMemory& memory, const StageRequest& request) { return StageMaker(memory, request).Make(); }

}  // namespace lamina
