// Model files: a network and its metadata as safetensors. SaveModel() writes networks as tensors and all else as JSON
// in the metadata. ModelFrom() checks the version first, then reads networks, preprocessing and what was measured.
// Bytes are left to safetensors.cc, single networks to network_file.cc, answers to answer.cc and predictor.cc.
#include "lamina/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "lamina/base/check.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/checked_json.h"
#include "lamina/model/network_file.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kMetadataKey = "lamina";
constexpr const char* kNearest = "nearest";       // absent: 0
constexpr const char* kProfile = "data_profile";  // absent: none
constexpr const char* kIntervals = "intervals";   // absent: none
constexpr const char* kInt8Ranges = "int8";       // absent: none
constexpr const char* kOthers = "others";         // networks; absent: none
constexpr const char* kShares = "shares";         // absent: none, or by gates
constexpr const char* kGates = "gates";           // a network; absent: none
constexpr const char* kGatesPrefix = "gates.";

// Encodings that came with format 5.
bool IsNewEncoding(const FittedColumn& column) {
  return column.scaling.curve == Curve::kSmoothClip || !column.edges.empty() || !column.periods.empty() ||
         !column.codes.empty() || column.has_other || column.buckets > 0 || column.indicates_missing;
}

int64_t FormatVersionOf(const Model& model) {
  const std::vector<FittedColumn>& inputs = model.preprocessor.inputs().columns();
  if (std::ranges::any_of(inputs, [](const FittedColumn& column) { return column.scores != nullptr; })) {
    return 10;
  }
  if (model.gates) {
    return 9;
  }
  const auto& layers = model.network.layers();
  if (std::ranges::any_of(layers, [](const LayerSpec& layer) { return layer.residual > 0; })) {
    return 8;
  }
  if (!model.others.empty()) {
    return 7;
  }
  if (model.network.members() > 1) {
    return 6;
  }
  if (model.preprocessor.policies().missing == MissingPolicy::kMedian ||
      !model.preprocessor.targets().form().quantiles.empty() ||
      std::any_of(inputs.begin(), inputs.end(), &IsNewEncoding)) {
    return 5;
  }
  if (model.nearest > 0) {
    return 4;
  }
  if (model.weights != WeightStorage::kExact) {
    return 3;
  }
  return std::any_of(layers.begin(), layers.end(), [](const LayerSpec& layer) { return layer.trained_radius; }) ? 2 : 1;
}

// A network without raw data behind it (a library user's own) has none.
bool IsFitted(const Preprocessor& preprocessor) { return preprocessor.inputs().count() > 0; }

json ToJson(const AnswerIntervals& intervals) {
  return {{"level", intervals.level}, {"rows", intervals.rows}, {"half_widths", intervals.half_widths}};
}

AnswerIntervals IntervalsFrom(const json& node, const Model& model, const std::string& source) {
  AnswerIntervals intervals{node.at("level").get<double>(), IntegerAt(node, "rows"),
                            node.at("half_widths").get<std::vector<double>>()};
  const bool fits = intervals.level > 0 && intervals.level < 1 && model.preprocessor.targets().class_names().empty() &&
                    std::ssize(intervals.half_widths) == model.network.outputs() &&
                    std::all_of(intervals.half_widths.begin(), intervals.half_widths.end(),
                                [](double width) { return std::isfinite(width) && width >= 0; });
  if (!fits) {
    throw Error(ErrorCode::kBadModel, "the intervals do not fit the model", {.file = source});
  }
  return intervals;
}

void ReadOthers(const SafetensorsFile& file, const json& node, std::span<const Activation> custom, Model& model) {
  for (const json& other : node.at(kOthers)) {
    if (StorageIn(other) != model.weights) {
      throw Error(ErrorCode::kBadModel, "the networks keep their weights in different ways");
    }
    model.others.push_back(ReadNetwork(file, other, PrefixOfNetwork(model.networks()), custom));
  }
  if (node.contains(kGates)) {
    model.gates = ReadNetwork(file, node[kGates], kGatesPrefix, custom);
  } else {
    model.shares = node.at(kShares).get<std::vector<double>>();
  }
  if (const Verdict verdict = CheckEnsemble(model); !verdict) {
    throw Error(ErrorCode::kBadModel, verdict.reason);
  }
}

// Throws unless the network is one that can answer by nearest rows, as its file says.
void RequireNearest(const Model& model, const std::string& source) {
  const std::vector<LayerSpec>& layers = model.network.layers();
  const bool fits = model.others.empty() && layers.size() == 2 && model.nearest >= 1 &&
                    model.nearest <= layers[0].outputs && layers[1].synapse == Synapse::kDot &&
                    std::none_of(layers.begin(), layers.end(), [](const LayerSpec& layer) {
                      return layer.bias || layer.trained_radius || layer.activation != Activation();
                    });
  if (!fits) {
    throw Error(ErrorCode::kBadModel, fmt::format("the network is none of {} nearest rows", model.nearest),
                {.file = source});
  }
}

}  // namespace

std::string Model::ShapeText() const {
  return others.empty() ? network.ShapeText() : fmt::format("{} and {} more", network.ShapeText(), others.size());
}

int64_t Model::parameter_count() const {
  int64_t count = 0;
  for (int64_t i = 0; i < networks(); ++i) {
    count += network_at(i).parameter_count();
  }
  return count + (gates ? gates->parameter_count() : 0);
}

int64_t Model::stored_bytes() const {
  int64_t size_bytes = 0;
  for (int64_t i = 0; i < networks(); ++i) {
    size_bytes += StoredBytes(network_at(i), weights);
  }
  return size_bytes + (gates ? StoredBytes(*gates, WeightStorage::kExact) : 0);
}

namespace {

// Whether an ensemble may go by these gates, whose outputs are the shares of a row.
Verdict CheckGates(const Network& gates, const Model& model) {
  const bool fits = !model.others.empty() && model.shares.empty() && gates.inputs() == model.network.inputs() &&
                    gates.outputs() == model.networks() && gates.dtype() == model.network.dtype() &&
                    gates.members() == 1 && gates.layers().back().activation == Activation("relu");
  return fits ? Verdict::Yes()
              : Verdict::No(fmt::format("gates {} do not fit {} networks {}", gates.ShapeText(), model.networks(),
                                        model.network.ShapeText()));
}

}  // namespace

Verdict CheckEnsemble(const Model& model) {
  if (model.gates) {
    if (Verdict fits = CheckGates(*model.gates, model); !fits) {
      return fits;
    }
  } else if (std::ssize(model.shares) != (model.others.empty() ? 0 : model.networks())) {
    return Verdict::No(fmt::format("{} networks with {} shares", model.networks(), model.shares.size()));
  }
  const auto is_share = [](double share) { return std::isfinite(share) && share > 0 && share <= 1; };
  if (!std::all_of(model.shares.begin(), model.shares.end(), is_share)) {
    return Verdict::No("a share of an ensemble's network is not above 0 and at most 1");
  }
  constexpr double kRounding = 1e-9;
  const double sum = std::accumulate(model.shares.begin(), model.shares.end(), 0.0);
  if (!model.shares.empty() && !(std::abs(sum - 1) < kRounding)) {
    return Verdict::No(fmt::format("the shares of an ensemble's networks are together {}, not 1", sum));
  }
  if (model.nearest > 0 && !model.others.empty()) {
    return Verdict::No("nearest neighbors answer alone");
  }
  const Network& first = model.network;
  for (const Network& other : model.others) {
    if (other.inputs() != first.inputs() || other.outputs() != first.outputs() || other.dtype() != first.dtype() ||
        other.layers().back().activation != first.layers().back().activation) {
      return Verdict::No(
          fmt::format("a network {} cannot stand beside {} in an ensemble", other.ShapeText(), first.ShapeText()));
    }
  }
  return Verdict::Yes();
}

void RefuseEnsemble(const Model& model, std::string_view what) {
  if (!model.others.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the model is an ensemble of {} networks: {} cannot", model.networks(), what),
                {.remedy = "Use a model of one network (lamina train --recipe tabular)."});
  }
}

void RefuseNearest(const Model& model, std::string_view what) {
  if (model.nearest > 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a model of nearest neighbors keeps {} rows and searches them: {} cannot",
                            model.network.layers()[0].outputs, what),
                {.remedy = "Use lamina predict or evaluate, or train a network (--method fsvc, for example)."});
  }
}

void SaveModel(const std::string& path, const Model& model, const ModelExtras& extras) {
  Check(static_cast<bool>(CheckEnsemble(model)), "a model whose file would be refused");
  TensorsOfNetworks tensors{extras.tensors, {}, {}};
  for (int64_t i = 0; i < model.networks(); ++i) {
    AddTensors(model.network_at(i), model.weights, PrefixOfNetwork(i), tensors);
  }
  if (model.gates) {
    AddTensors(*model.gates, WeightStorage::kExact, kGatesPrefix, tensors);
  }
  json node = {{"format_version", tensors.without_zeros.empty() ? FormatVersionOf(model) : 11},
               {"network", NetworkToJson(model.network, model.weights)},
               {"loss", model.loss.Text()},
               {"preprocessor", IsFitted(model.preprocessor) ? model.preprocessor.ToJson() : json(nullptr)},
               {"training", model.training}};
  for (const Network& network : model.others) {
    node[kOthers].push_back(NetworkToJson(network, model.weights));
  }
  if (model.gates) {
    node[kGates] = NetworkToJson(*model.gates, WeightStorage::kExact);
  } else if (!model.others.empty()) {
    node[kShares] = model.shares;
  }
  if (model.nearest > 0) {
    node[kNearest] = model.nearest;
  }
  if (!model.profile.columns.empty()) {
    node[kProfile] = ToJson(model.profile);
  }
  if (model.intervals) {
    node[kIntervals] = ToJson(*model.intervals);
  }
  if (model.int8_ranges) {
    node[kInt8Ranges] = ToJson(*model.int8_ranges);
  }
  std::map<std::string, std::string> metadata = extras.metadata;
  metadata[kMetadataKey] = node.dump(-1, ' ', false, json::error_handler_t::replace);
  WriteSafetensors(path, metadata, tensors.views);
}

Model WithWeights(Model model, WeightStorage storage) {
  for (int64_t i = 0; i < model.networks() && storage != WeightStorage::kExact; ++i) {
    RoundWeights(model.network_at(i), storage);
  }
  model.weights = storage;
  return model;
}

Model LoadModel(const std::string& path, std::span<const Activation> custom) {
  return ModelFrom(SafetensorsFile::Read(path), path, custom);
}

namespace {

void RequireKnownVersion(int64_t version, const std::string& source) {
  if (version < 1) {
    throw Error(ErrorCode::kBadModel, fmt::format("model format {} does not exist", version), {.file = source});
  }
  if (version > kModelFormatVersion) {
    throw Error(ErrorCode::kBadModel,
                fmt::format("model format {}, this lamina reads up to {}", version, kModelFormatVersion),
                {.file = source, .remedy = "Use a newer lamina."});
  }
}

// What was measured on rows, where there is such.
void ReadMeasured(const json& node, const std::string& source, Model& model) {
  if (node.contains(kIntervals)) {
    model.intervals = IntervalsFrom(node[kIntervals], model, source);
  }
  if (node.contains(kInt8Ranges)) {
    model.int8_ranges = Int8RangesFrom(node[kInt8Ranges], model.network);
  }
  if (node.contains(kProfile)) {
    model.profile = DataProfileFrom(node[kProfile]);
    if (model.profile.columns.size() != model.preprocessor.inputs().columns().size()) {
      throw Error(ErrorCode::kBadModel, "the profile of the training data does not fit the model", {.file = source});
    }
  }
}

}  // namespace

Model ModelFrom(const SafetensorsFile& file, const std::string& source, std::span<const Activation> custom) {
  const auto entry = file.metadata().find(kMetadataKey);
  if (entry == file.metadata().end()) {
    throw Error(ErrorCode::kBadModel, "a safetensors file, but not a lamina model (no 'lamina' metadata)",
                {.file = source});
  }
  try {
    const json node = ParseUntrustedJson(entry->second, source);
    RequireKnownVersion(IntegerAt(node, "format_version"), source);
    Model model;
    model.network = ReadNetwork(file, node.at("network"), PrefixOfNetwork(0), custom);
    model.weights = StorageIn(node.at("network"));
    if (node.contains(kOthers)) {
      ReadOthers(file, node, custom, model);
    }
    if (node.contains(kNearest)) {
      model.nearest = IntegerAt(node, kNearest);
      RequireNearest(model, source);
    }
    model.loss = Loss::Parse(node.at("loss").get<std::string>());
    if (const json& preprocessor = node.at("preprocessor"); !preprocessor.is_null()) {
      model.preprocessor = Preprocessor::FromJson(preprocessor);
    }
    ReadMeasured(node, source, model);
    model.training = node.at("training");
    if (IsFitted(model.preprocessor) && (model.preprocessor.inputs().count() != model.network.inputs() ||
                                         model.preprocessor.targets().count() != model.network.outputs())) {
      throw Error(ErrorCode::kBadModel, "the preprocessing does not fit the network", {.file = source});
    }
    return model;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("the model description is wrong: {}", WithoutTag(error.what())),
                {.file = source});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kBadModel && !error.context().file.empty()) {
      throw;
    }
    throw Error(ErrorCode::kBadModel, error.message(),
                {.file = source, .value = error.context().value, .remedy = error.context().remedy});
  }
}

}  // namespace lamina
