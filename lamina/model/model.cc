// Model files: a network and its metadata as safetensors.
#include "lamina/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/checked_json.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kMetadataKey = "lamina";
constexpr const char* kTrainedRadius = "trained_radius";  // absent: false
constexpr const char* kWeights = "weights";               // absent: exact
constexpr const char* kNearest = "nearest";               // absent: 0
constexpr const char* kProfile = "data_profile";          // absent: none
constexpr const char* kIntervals = "intervals";           // absent: none
constexpr const char* kMembers = "members";               // absent: 1
constexpr const char* kMemberScale = "member_scale";

bool HasTrainedRadius(const json& layer) {
  const auto it = layer.find(kTrainedRadius);
  return it != layer.end() && it->get<bool>();
}

// Encodings that came with format 5.
bool IsNewEncoding(const FittedColumn& column) {
  return column.scaling.curve == Curve::kSmoothClip || !column.edges.empty() || !column.periods.empty() ||
         column.has_other || column.buckets > 0 || column.indicates_missing;
}

int64_t FormatVersionOf(const Model& model) {
  if (model.network.members() > 1) {
    return 6;
  }
  const std::vector<FittedColumn>& inputs = model.preprocessor.inputs().columns();
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
  const auto& layers = model.network.layers();
  return std::any_of(layers.begin(), layers.end(), [](const LayerSpec& layer) { return layer.trained_radius; }) ? 2 : 1;
}

// A network without raw data behind it (a library user's own) has none.
bool IsFitted(const Preprocessor& preprocessor) { return preprocessor.inputs().count() > 0; }

WeightStorage StorageIn(const json& network) {
  const auto it = network.find(kWeights);
  return it == network.end() ? WeightStorage::kExact : ParseWeightStorage(it->get<std::string>());
}

json ToJson(const Network& network, WeightStorage storage) {
  json layers = json::array();
  for (const LayerSpec& layer : network.layers()) {
    layers.push_back({{"inputs", layer.inputs},
                      {"outputs", layer.outputs},
                      {"synapse", SynapseName(layer.synapse)},
                      {"activation", layer.activation.Text()},
                      {"bias", layer.bias}});
    if (layer.trained_radius) {
      layers.back()[kTrainedRadius] = true;
    }
  }
  json node = {{"dtype", DTypeName(network.dtype())}, {"layers", layers}};
  if (storage != WeightStorage::kExact) {
    node[kWeights] = WeightStorageName(storage);
  }
  if (network.members() > 1) {
    node[kMembers] = network.members();
  }
  return node;
}

int64_t MembersIn(const json& network) { return network.contains(kMembers) ? IntegerAt(network, kMembers) : 1; }

Network NetworkFrom(const json& node, std::span<const Activation> custom) {
  std::vector<LayerSpec> layers;
  for (const json& entry : node.at("layers")) {
    LayerSpec layer;
    layer.inputs = IntegerAt(entry, "inputs");
    layer.outputs = IntegerAt(entry, "outputs");
    layer.synapse = ParseSynapse(entry.at("synapse").get<std::string>());
    layer.activation = Activation::Parse(entry.at("activation").get<std::string>(), custom);
    layer.bias = entry.at("bias").get<bool>();
    layer.trained_radius = HasTrainedRadius(entry);
    layers.push_back(layer);
  }
  return Network(std::move(layers), ParseDType(node.at("dtype").get<std::string>()), MembersIn(node));
}

constexpr const char* kScale = "weight_scale";

std::string TensorName(size_t layer, const char* what) { return fmt::format("layer.{}.{}", layer + 1, what); }

TensorView ViewOfArray(const void* data, DType dtype, std::vector<int64_t> shape) {
  int64_t size_bytes = DTypeSize_bytes(dtype);
  for (const int64_t size : shape) {
    size_bytes *= size;
  }
  return {dtype, std::move(shape), {static_cast<const char*>(data), static_cast<size_t>(size_bytes)}};
}

// The file must hold as much as the layers claim before any memory is taken for them.
void RequireTensors(const SafetensorsFile& file, const json& node) {
  const DType dtype = ParseDType(node.at("dtype").get<std::string>());
  const WeightStorage storage = StorageIn(node);
  const int64_t members = MembersIn(node);
  size_t l = 0;
  for (const json& entry : node.at("layers")) {
    int64_t outputs = IntegerAt(entry, "outputs");
    if (l + 1 == node.at("layers").size() && __builtin_mul_overflow(outputs, members, &outputs)) {
      throw Error(ErrorCode::kBadModel, fmt::format("a network of {} members is too large", members));
    }
    const bool exact = IsDistance(ParseSynapse(entry.at("synapse").get<std::string>()));
    file.Require(TensorName(l, "weight"), exact ? dtype : StoredType(storage, dtype),
                 {outputs, IntegerAt(entry, "inputs")});
    if (!exact && storage == WeightStorage::kI8) {
      file.Require(TensorName(l, kScale), DType::kF32, {outputs});
    }
    if (entry.at("bias").get<bool>()) {
      file.Require(TensorName(l, "bias"), dtype, {outputs});
    }
    if (HasTrainedRadius(entry)) {
      file.Require(TensorName(l, "radius"), dtype, {outputs});
    }
    ++l;
  }
  if (members > 1 && l > 0) {
    file.Require(kMemberScale, dtype, {members, IntegerAt(node.at("layers").front(), "inputs")});
  }
}

// Of rows × cols elements; cols 0: a vector of `rows`. `positive`: above 0, too.
void RequireFinite(const std::string& name, const void* data, DType dtype, int64_t rows, int64_t cols, bool positive) {
  DispatchFloat(dtype, [&]<class T>(T) {
    const T* numbers = static_cast<const T*>(data);
    const T* end = numbers + rows * std::max<int64_t>(cols, 1);
    const T* bad =
        std::find_if(numbers, end, [&](T number) { return !std::isfinite(number) || (positive && !(number > T(0))); });
    if (bad != end) {
      const int64_t at = bad - numbers;
      throw Error(
          ErrorCode::kBadModel,
          fmt::format("tensor {} holds a number that is not {}finite at {}", name, positive ? "positive and " : "",
                      cols == 0 ? fmt::format("[{}]", at) : fmt::format("[{}, {}]", at / cols, at % cols)),
          {.value = fmt::format("{}", *bad), .remedy = "The file is damaged: train the model again."});
    }
  });
}

// Weights in few bits to numbers. They are what lamina writes if rounding them again finds the same.
void WidenTensors(const SafetensorsFile& file, size_t l, WeightStorage storage, Network& network) {
  const MatrixView weights = network.Weights(l);
  const auto require = [&](const char* what, DType dtype, const std::vector<int64_t>& shape) {
    return file.Require(TensorName(l, what), dtype, shape).bytes;
  };
  const DType dtype = StoredType(storage, network.dtype());
  const std::string_view numbers = require("weight", dtype, {weights.rows, weights.cols});
  const std::string_view scales =
      storage == WeightStorage::kI8 ? require(kScale, DType::kF32, {weights.rows}) : std::string_view();
  StoredWeights stored;
  stored.numbers = Matrix(weights.rows, weights.cols, dtype);
  stored.scales.resize(scales.size() / sizeof(float));
  std::memcpy(stored.numbers.data(), numbers.data(), numbers.size());
  if (!scales.empty()) {
    std::memcpy(stored.scales.data(), scales.data(), scales.size());
  }
  stored.Widen(weights);
  RequireFinite(TensorName(l, "weight"), weights.data, network.dtype(), weights.rows, weights.cols, false);
  const StoredWeights again = StoreWeights(weights, storage);
  if (std::memcmp(again.numbers.data(), numbers.data(), numbers.size()) != 0 || again.scales != stored.scales) {
    throw Error(ErrorCode::kBadModel,
                fmt::format("tensors {} and {} are not weights as lamina rounds them", TensorName(l, "weight"),
                            TensorName(l, kScale)),
                {.remedy = "The file is damaged: export it again (lamina export --weights)."});
  }
}

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

void CopyTensors(const SafetensorsFile& file, WeightStorage storage, Network& network) {
  if (const MatrixView scales = network.MemberScales(); !scales.empty()) {
    const TensorView& saved = file.Require(kMemberScale, network.dtype(), {scales.rows, scales.cols});
    std::memcpy(scales.data, saved.bytes.data(), saved.bytes.size());
    RequireFinite(kMemberScale, scales.data, network.dtype(), scales.rows, scales.cols, false);
  }
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& layer = network.layers()[l];
    const int64_t outputs = layer.outputs * network.blocks(l);
    if (StoresWeights(layer, storage)) {
      WidenTensors(file, l, storage, network);
    } else {
      const TensorView& weights = file.Require(TensorName(l, "weight"), network.dtype(), {outputs, layer.inputs});
      std::memcpy(network.Weights(l).data, weights.bytes.data(), weights.bytes.size());
      RequireFinite(TensorName(l, "weight"), network.Weights(l).data, network.dtype(), outputs, layer.inputs, false);
    }
    if (layer.bias) {
      const TensorView& bias = file.Require(TensorName(l, "bias"), network.dtype(), {outputs});
      std::memcpy(network.Bias(l), bias.bytes.data(), bias.bytes.size());
      RequireFinite(TensorName(l, "bias"), network.Bias(l), network.dtype(), outputs, 0, false);
    }
    if (layer.trained_radius) {
      const TensorView& radii = file.Require(TensorName(l, "radius"), network.dtype(), {layer.outputs});
      std::memcpy(network.Radii(l), radii.bytes.data(), radii.bytes.size());
      RequireFinite(TensorName(l, "radius"), network.Radii(l), network.dtype(), layer.outputs, 0, true);
    }
  }
}

// Of a file that says it answers by nearest rows.
void RequireNearest(const Model& model, const std::string& source) {
  const std::vector<LayerSpec>& layers = model.network.layers();
  const bool fits = layers.size() == 2 && model.nearest >= 1 && model.nearest <= layers[0].outputs &&
                    layers[1].synapse == Synapse::kDot &&
                    std::none_of(layers.begin(), layers.end(), [](const LayerSpec& layer) {
                      return layer.bias || layer.trained_radius || layer.activation != Activation();
                    });
  if (!fits) {
    throw Error(ErrorCode::kBadModel, fmt::format("the network is none of {} nearest rows", model.nearest),
                {.file = source});
  }
}

}  // namespace

void RefuseNearest(const Model& model, std::string_view what) {
  if (model.nearest > 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a model of nearest neighbours keeps {} rows and searches them: {} cannot",
                            model.network.layers()[0].outputs, what),
                {.remedy = "Use lamina predict or evaluate, or train a network (--method fsvc, for example)."});
  }
}

void SaveModel(const std::string& path, const Model& model, const ModelExtras& extras) {
  json node = {{"format_version", FormatVersionOf(model)},
               {"network", ToJson(model.network, model.weights)},
               {"loss", model.loss.Text()},
               {"preprocessor", IsFitted(model.preprocessor) ? model.preprocessor.ToJson() : json(nullptr)},
               {"training", model.training}};
  if (model.nearest > 0) {
    node[kNearest] = model.nearest;
  }
  if (!model.profile.columns.empty()) {
    node[kProfile] = ToJson(model.profile);
  }
  if (model.intervals) {
    node[kIntervals] = ToJson(*model.intervals);
  }
  std::map<std::string, std::string> metadata = extras.metadata;
  metadata[kMetadataKey] = node.dump(-1, ' ', false, json::error_handler_t::replace);
  std::map<std::string, TensorView> tensors = extras.tensors;
  const Network& network = model.network;
  if (const MatrixView scales = network.MemberScales(); !scales.empty()) {
    tensors[kMemberScale] = ViewOfArray(scales.data, scales.dtype, {scales.rows, scales.cols});
  }
  std::vector<StoredWeights> stored(network.layers().size());
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& layer = network.layers()[l];
    const int64_t outputs = layer.outputs * network.blocks(l);
    ConstMatrixView weights = network.Weights(l);
    if (StoresWeights(layer, model.weights)) {
      stored[l] = StoreLayer(network, l, model.weights);
      weights = stored[l].numbers.view();
      if (!stored[l].scales.empty()) {
        tensors[TensorName(l, kScale)] = ViewOfArray(stored[l].scales.data(), DType::kF32, {outputs});
      }
    }
    tensors[TensorName(l, "weight")] = ViewOfArray(weights.data, weights.dtype, {outputs, layer.inputs});
    if (layer.bias) {
      tensors[TensorName(l, "bias")] = ViewOfArray(network.Bias(l), network.dtype(), {outputs});
    }
    if (layer.trained_radius) {
      tensors[TensorName(l, "radius")] = ViewOfArray(network.Radii(l), network.dtype(), {layer.outputs});
    }
  }
  WriteSafetensors(path, metadata, tensors);
}

Model WithWeights(Model model, WeightStorage storage) {
  if (storage != WeightStorage::kExact) {
    RoundWeights(model.network, storage);
  }
  model.weights = storage;
  return model;
}

Model LoadModel(const std::string& path, std::span<const Activation> custom) {
  return ModelFrom(SafetensorsFile::Read(path), path, custom);
}

Model ModelFrom(const SafetensorsFile& file, const std::string& source, std::span<const Activation> custom) {
  const auto entry = file.metadata().find(kMetadataKey);
  if (entry == file.metadata().end()) {
    throw Error(ErrorCode::kBadModel, "a safetensors file, but not a lamina model (no 'lamina' metadata)",
                {.file = source});
  }
  try {
    const json node = ParseUntrustedJson(entry->second, source);
    const int64_t version = IntegerAt(node, "format_version");
    if (version < 1) {
      throw Error(ErrorCode::kBadModel, fmt::format("model format {} does not exist", version), {.file = source});
    }
    if (version > kModelFormatVersion) {
      throw Error(ErrorCode::kBadModel,
                  fmt::format("model format {}, this lamina reads up to {}", version, kModelFormatVersion),
                  {.file = source, .remedy = "Use a newer lamina."});
    }
    Model model;
    RequireTensors(file, node.at("network"));
    model.network = NetworkFrom(node.at("network"), custom);
    model.weights = StorageIn(node.at("network"));
    CopyTensors(file, model.weights, model.network);
    if (node.contains(kNearest)) {
      model.nearest = IntegerAt(node, kNearest);
      RequireNearest(model, source);
    }
    model.loss = Loss::Parse(node.at("loss").get<std::string>());
    if (const json& preprocessor = node.at("preprocessor"); !preprocessor.is_null()) {
      model.preprocessor = Preprocessor::FromJson(preprocessor);
    }
    if (node.contains(kIntervals)) {
      model.intervals = IntervalsFrom(node[kIntervals], model, source);
    }
    if (node.contains(kProfile)) {
      model.profile = DataProfileFrom(node[kProfile]);
      if (model.profile.columns.size() != model.preprocessor.inputs().columns().size()) {
        throw Error(ErrorCode::kBadModel, "the profile of the training data does not fit the model", {.file = source});
      }
    }
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
