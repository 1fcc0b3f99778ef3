// Layers and targets as JSON that the page's engine reads (web/page/engine/network.js, model.js).
#include "lamina/model/html_page/page_networks.h"

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/model/c_source/c_answer.h"
#include "lamina/model/int8_network.h"
#include "lamina/model/scored_rows.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

using nlohmann::json;

void AddActivation(const LayerSpec& spec, json& layer) {
  const Activation activation = spec.trained_radius ? spec.activation.WithRadius(1) : spec.activation;
  if (activation.kind() == Activation::kCustom) {
    throw Error(ErrorCode::kUnsupported, "a page cannot compute this activation",
                {.value = activation.name(), .remedy = "Export a network of lamina's own activations."});
  }
  layer["activation"] = activation.is_softmax() ? "softmax" : activation.name();
  if (!activation.parameters().empty()) {
    layer["parameters"] = std::vector<double>(activation.parameters().begin(), activation.parameters().end());
  }
}

json LayerToJson(const Network& network, size_t l, WeightStorage weights, PageBlob& blob) {
  const LayerSpec& spec = network.layers()[l];
  json layer = {{"synapse", SynapseName(spec.synapse)}, {"inputs", spec.inputs}, {"outputs", spec.outputs}};
  AddActivation(spec, layer);
  const StoredWeights stored = StoreLayer(network, l, weights);
  layer["weights"] = blob.Add(stored.numbers.view());
  if (!stored.scales.empty()) {
    layer["scales"] = blob.Add(stored.scales.data(), std::ssize(stored.scales), DType::kF32);
  }
  if (const void* bias = network.Bias(l); bias != nullptr) {
    layer["bias"] = blob.Add(bias, network.blocks(l) * spec.outputs, network.dtype());
  }
  if (const void* radii = network.Radii(l); radii != nullptr) {
    layer["radius"] = blob.Add(radii, spec.outputs, network.dtype());
  }
  if (network.BeginsResidual(l)) {
    layer["begins"] = true;
  }
  if (spec.residual > 0) {
    layer["ends"] = true;
  }
  return layer;
}

json NetworkToJson(const Network& network, double share, WeightStorage weights, PageBlob& blob) {
  json made = {{"share", share}, {"layers", json::array()}};
  for (size_t l = 0; l < network.layers().size(); ++l) {
    made["layers"].push_back(LayerToJson(network, l, weights, blob));
  }
  if (network.members() > 1) {
    const MatrixView scales = network.MemberScales();
    made["members"] = scales.rows;
    made["factors"] = blob.Add(scales);
  }
  return made;
}

const char* FinishName(Int8Finish finish) {
  switch (finish) {
    case Int8Finish::kClamped: return "clamped";
    case Int8Finish::kCorner: return "corner";
    case Int8Finish::kTable: return "table";
    case Int8Finish::kNumbers: return "numbers";
    case Int8Finish::kSoftmax: return "softmax";
    case Int8Finish::kSigmoid: return "sigmoid";
  }
  return "";
}

json Int8ToJson(const Int8Network& network, PageBlob& blob) {
  const Int8Powers powers = MakeInt8Powers();
  json made = {{"steps", network.input_steps},
               {"outputStep", network.output_step},
               {"powers", {{"whole", powers.whole}, {"rest", powers.rest}}},
               {"layers", json::array()}};
  for (const Int8Layer& layer : network.layers) {
    made["layers"].push_back({{"synapse", SynapseName(layer.synapse)},
                              {"inputs", layer.inputs},
                              {"outputs", layer.outputs},
                              {"weights", blob.Add(layer.weights.data(), std::ssize(layer.weights), DType::kI8)},
                              {"offsets", layer.offsets},
                              {"factors", layer.factors},
                              {"finish", FinishName(layer.finish)},
                              {"shift", layer.shift},
                              {"low", layer.low},
                              {"table", layer.table}});
  }
  return made;
}

json OutputToJson(const TargetEncoder& targets, const std::string& name, int64_t output) {
  json made = {{"name", name}};
  const ColumnScaling& scaling = targets.ScalingOf(output);
  made["scale"] = scaling.scale;
  made["offset"] = scaling.offset;
  if (scaling.curve == Curve::kLogarithm) {
    made["log"] = true;
  }
  if (const double level = targets.LevelOf(output); level > 0) {
    made["level"] = level;
  }
  return made;
}

}  // namespace

void AddPageNetworks(const Model& model, PageBlob& blob, json& page) {
  page["inputs"] = model.network.inputs();
  page["dtype"] = DTypeName(model.network.dtype());
  if (model.nearest > 0) {
    page["nearest"] = model.nearest;
  }
  page["networks"] = json::array();
  if (model.int8) {
    page["int8"] = Int8ToJson(*model.int8, blob);
    return;
  }
  for (int64_t i = 0; i < model.networks(); ++i) {
    page["networks"].push_back(NetworkToJson(model.network_at(i), model.share_of(i), model.weights, blob));
  }
  if (model.gates) {
    page["gates"] = NetworkToJson(*model.gates, 1, WeightStorage::kExact, blob);
  }
}

void AddPageTargets(const Model& model, json& page) {
  const TargetEncoder& targets = model.preprocessor.targets();
  const bool fitted = model.preprocessor.inputs().count() > 0;
  json& made = page["targets"];
  made = {{"names", targets.names()}, {"outputs", json::array()}, {"quantiles", targets.OutputsOfTarget()}};
  const std::vector<std::string> names = NamesOfOutputs(model);
  if (targets.class_names().empty()) {
    for (int64_t j = 0; j < model.network.outputs(); ++j) {
      const std::string& name = names[static_cast<size_t>(j)];
      made["outputs"].push_back(fitted ? OutputToJson(targets, name, j) : json{{"name", name}});
    }
  } else {
    made["classes"] = targets.class_names();
    made["single"] = targets.form().single_output;
    made["threshold"] = targets.class_threshold();
    made["highest"] = targets.highest_wins();
    made["probabilities"] = AnswersProbabilities(model);
  }
  if (model.intervals) {
    page["intervals"] = {{"level", model.intervals->level}, {"halfWidths", model.intervals->half_widths}};
  }
}

}  // namespace lamina
