// From a model file to a run's first network.
#include "lamina/run/start_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/run/run_plan.h"
#include "lamina/settings/embedding.h"
#include "lamina/settings/recipe.h"

namespace lamina {
namespace {

std::string NameOfLayer(size_t layer) { return fmt::format("layer.{}", layer + 1); }

bool SaysNothingOfLayers(const TrainSettings& settings) {
  const TrainSettings defaults;
  return settings.layers.empty() && settings.hidden == defaults.hidden && settings.activation == defaults.activation;
}

// The embedding that the model was trained with; returns how many layers that is.
size_t TakeEmbedding(const Model& model, TrainSettings& settings) {
  const TrainSettings own = TrainSettingsFromJson(model.training.value("settings", nlohmann::json::object()));
  const ResolvedSettings resolved = Resolve(own);
  const int64_t layers = EmbeddingLayersOf(resolved, model.preprocessor.inputs());
  const TrainSettings whole = layers > 0 ? *resolved : *Resolve(TrainSettings());
  settings.number_embedding = whole.number_embedding;
  settings.category_embedding = whole.category_embedding;
  settings.waves = whole.waves;
  settings.wave_scale = whole.wave_scale;
  settings.embedding_size = whole.embedding_size;
  return static_cast<size_t>(layers);
}

void CopyVector(const void* from, DType from_type, void* to, DType to_type, int64_t count) {
  ConvertMatrix({from, 1, count, count, from_type, Space::kHost}, {to, 1, count, count, to_type, Space::kHost});
}

}  // namespace

Model ReadStartModel(TrainSettings& settings, std::span<const Activation> custom) {
  Model model = LoadModel(settings.start_from, custom);
  RefuseNearest(model, "training steps");
  RefuseEnsemble(model, "training steps");
  if (model.preprocessor.inputs().count() == 0) {
    RefuseSetting("start-from", "the model holds a bare network, without the encoding of raw rows",
                  settings.start_from);
  }
  if (SaysNothingOfLayers(settings)) {
    const std::vector<LayerSpec>& layers = model.network.layers();
    const size_t first = TakeEmbedding(model, settings);
    settings.layers = LayersText(std::span(layers).subspan(first, layers.size() - 1 - first));
    settings.layers += settings.layers.empty() ? "auto" : ",auto";
    settings.members = model.network.members();
  }
  const TargetEncoder& targets = model.preprocessor.targets();
  model.preprocessor.set_form(FormFor(ResolveFor(settings, targets), targets, custom));
  return model;
}

std::vector<std::string> TakeParameters(const Model& start, const std::string& path, Network& network) {
  std::vector<std::string> taken;
  const Network& from = start.network;
  for (size_t l = 0; l < std::min(from.layers().size(), network.layers().size()); ++l) {
    const LayerSpec& old_layer = from.layers()[l];
    const LayerSpec& layer = network.layers()[l];
    if (from.blocks(l) != network.blocks(l) || old_layer.inputs != layer.inputs || old_layer.outputs != layer.outputs ||
        old_layer.synapse != layer.synapse) {
      continue;
    }
    ConvertMatrix(from.Weights(l), network.Weights(l));
    if (layer.bias && old_layer.bias) {
      CopyVector(from.Bias(l), from.dtype(), network.Bias(l), network.dtype(), layer.outputs * network.blocks(l));
    }
    if (layer.trained_radius && old_layer.trained_radius) {
      CopyVector(from.Radii(l), from.dtype(), network.Radii(l), network.dtype(), layer.outputs);
    }
    taken.push_back(NameOfLayer(l));
  }
  if (from.members() == network.members() && from.inputs() == network.inputs() && network.members() > 1) {
    ConvertMatrix(from.MemberScales(), network.MemberScales());
  }
  if (taken.empty()) {
    RefuseSetting("start-from",
                  fmt::format("no layer of its network {} fits the network {}", from.ShapeText(), network.ShapeText()),
                  path, "Leave --hidden and --layers out: then the layers are the model's.");
  }
  return taken;
}

std::vector<bool> FrozenLayers(const TrainSettings& settings, const Network& network) {
  std::vector<bool> frozen(network.layers().size());
  for (const std::string& name : settings.freeze) {
    size_t layer = 0;
    while (layer < frozen.size() && NameOfLayer(layer) != name) {
      ++layer;
    }
    if (layer == frozen.size()) {
      RefuseSetting("freeze", fmt::format("the network has layer.1 to {}", NameOfLayer(frozen.size() - 1)), name);
    }
    frozen[layer] = true;
  }
  if (std::find(frozen.begin(), frozen.end(), false) == frozen.end()) {
    RefuseSetting("freeze", "every layer is frozen: nothing is left to train", FieldText(&settings.freeze));
  }
  return settings.freeze.empty() ? std::vector<bool>() : frozen;
}

}  // namespace lamina
