// One network as the tensors and the JSON of a model file.
#include "lamina/model/network_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/model/checked_json.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kTrainedRadius = "trained_radius";  // absent: false
constexpr const char* kResidual = "residual";             // absent: 0
constexpr const char* kWeights = "weights";               // absent: exact
constexpr const char* kMembers = "members";               // absent: 1
constexpr const char* kMemberScale = "member_scale";

bool HasTrainedRadius(const json& layer) {
  const auto it = layer.find(kTrainedRadius);
  return it != layer.end() && it->get<bool>();
}

}  // namespace

json NetworkToJson(const Network& network, WeightStorage storage) {
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
    if (layer.residual > 0) {
      layers.back()[kResidual] = layer.residual;
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

std::string PrefixOfNetwork(int64_t network) { return network == 0 ? "" : fmt::format("network.{}.", network + 1); }

WeightStorage StorageIn(const json& network) {
  const auto it = network.find(kWeights);
  return it == network.end() ? WeightStorage::kExact : ParseWeightStorage(it->get<std::string>());
}

namespace {

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
    layer.residual = entry.contains(kResidual) ? IntegerAt(entry, kResidual) : 0;
    layers.push_back(layer);
  }
  return Network(std::move(layers), ParseDType(node.at("dtype").get<std::string>()), MembersIn(node));
}

constexpr const char* kScale = "weight_scale";

// As they stand in the file of a network whose names begin with `prefix`.
std::string TensorName(const std::string& prefix, size_t layer, const char* what) {
  return fmt::format("{}layer.{}.{}", prefix, layer + 1, what);
}

// The file must hold as much as the layers claim before any memory is taken for them.
void RequireTensors(const SafetensorsFile& file, const json& node, const std::string& prefix) {
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
    RequireMatrix(file, TensorName(prefix, l, "weight"), exact ? dtype : StoredType(storage, dtype), outputs,
                  IntegerAt(entry, "inputs"));
    if (!exact && storage == WeightStorage::kI8) {
      file.Require(TensorName(prefix, l, kScale), DType::kF32, {outputs});
    }
    if (entry.at("bias").get<bool>()) {
      file.Require(TensorName(prefix, l, "bias"), dtype, {outputs});
    }
    if (HasTrainedRadius(entry)) {
      file.Require(TensorName(prefix, l, "radius"), dtype, {outputs});
    }
    ++l;
  }
  if (members > 1 && l > 0) {
    file.Require(prefix + kMemberScale, dtype, {members, IntegerAt(node.at("layers").front(), "inputs")});
  }
}

// The number that stands at place `at` of a tensor of `cols` columns; 0: of a vector.
[[noreturn]] void RefuseNumber(const std::string& name, bool positive, int64_t at, int64_t cols, double number) {
  throw Error(ErrorCode::kBadModel,
              fmt::format("tensor {} holds a number that is not {}finite at {}", name, positive ? "positive and " : "",
                          cols == 0 ? fmt::format("[{}]", at) : fmt::format("[{}, {}]", at / cols, at % cols)),
              {.value = fmt::format("{:g}", number), .remedy = "The file is damaged: train the model again."});
}

// For rows × cols elements; cols 0: a vector of `rows`. `positive`: they must be above 0, too.
void RequireFinite(const std::string& name, const void* data, DType dtype, int64_t rows, int64_t cols, bool positive) {
  const int64_t count = rows * std::max<int64_t>(cols, 1);
  const int64_t at = DispatchFloat(dtype, [&]<class T>(T) {
    const T* const numbers = static_cast<const T*>(data);
    return std::find_if(numbers, numbers + count,
                        [&](T number) { return !std::isfinite(number) || (positive && !(number > T(0))); }) -
           numbers;
  });
  if (at < count) {
    RefuseNumber(name, positive, at, cols,
                 ReadNumber(dtype, static_cast<const char*>(data) + at * DTypeSize_bytes(dtype)));
  }
}

void RequireFinite(const std::string& name, const SparseMatrix& list) {
  for (int64_t i = 0; i < list.rows(); ++i) {
    for (const auto& [column, value] : list.Row(i)) {
      if (!std::isfinite(value)) {
        RefuseNumber(name, false, i * list.cols + column, list.cols, value);
      }
    }
  }
}

void CopyWeights(const SafetensorsFile& file, const std::string& name, size_t l, Network& network) {
  const LayerSpec& layer = network.layers()[l];
  const int64_t outputs = layer.outputs * network.blocks(l);
  if (auto list = ReadList(file, name, network.dtype(), outputs, layer.inputs)) {
    RequireFinite(name, *list);
    network.ListWeights(l, std::move(list));
    return;
  }
  const MatrixView weights = network.Weights(l);
  ReadMatrix(file, name, weights);
  RequireFinite(name, weights.data, network.dtype(), outputs, layer.inputs, false);
}

// Weights in few bits to numbers. They are what lamina writes if rounding them again finds the same.
void WidenTensors(const SafetensorsFile& file, const std::string& prefix, size_t l, WeightStorage storage,
                  Network& network) {
  const MatrixView weights = network.Weights(l);
  StoredWeights stored;
  stored.numbers = Matrix(weights.rows, weights.cols, StoredType(storage, network.dtype()));
  ReadMatrix(file, TensorName(prefix, l, "weight"), stored.numbers.view());
  if (storage == WeightStorage::kI8) {
    const TensorView& scales = file.Require(TensorName(prefix, l, kScale), DType::kF32, {weights.rows});
    stored.scales.resize(static_cast<size_t>(weights.rows));
    std::memcpy(stored.scales.data(), scales.bytes.data(), scales.bytes.size());
  }
  stored.Widen(weights);
  RequireFinite(TensorName(prefix, l, "weight"), weights.data, network.dtype(), weights.rows, weights.cols, false);
  const StoredWeights again = StoreWeights(weights, storage);
  const int64_t size_bytes = weights.rows * weights.cols * DTypeSize_bytes(stored.numbers.dtype());
  if (std::memcmp(again.numbers.data(), stored.numbers.data(), static_cast<size_t>(size_bytes)) != 0 ||
      again.scales != stored.scales) {
    throw Error(ErrorCode::kBadModel,
                fmt::format("tensors {} and {} are not weights as lamina rounds them", TensorName(prefix, l, "weight"),
                            TensorName(prefix, l, kScale)),
                {.remedy = "The file is damaged: export it again (lamina export --weights)."});
  }
}

void CopyTensors(const SafetensorsFile& file, const std::string& prefix, WeightStorage storage, Network& network) {
  if (const MatrixView scales = network.MemberScales(); !scales.empty()) {
    const TensorView& saved = file.Require(prefix + kMemberScale, network.dtype(), {scales.rows, scales.cols});
    std::memcpy(scales.data, saved.bytes.data(), saved.bytes.size());
    RequireFinite(prefix + kMemberScale, scales.data, network.dtype(), scales.rows, scales.cols, false);
  }
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& layer = network.layers()[l];
    const int64_t outputs = layer.outputs * network.blocks(l);
    if (StoresWeights(layer, storage)) {
      WidenTensors(file, prefix, l, storage, network);
    } else {
      CopyWeights(file, TensorName(prefix, l, "weight"), l, network);
    }
    if (layer.bias) {
      const TensorView& bias = file.Require(TensorName(prefix, l, "bias"), network.dtype(), {outputs});
      std::memcpy(network.Bias(l), bias.bytes.data(), bias.bytes.size());
      RequireFinite(TensorName(prefix, l, "bias"), network.Bias(l), network.dtype(), outputs, 0, false);
    }
    if (layer.trained_radius) {
      const TensorView& radii = file.Require(TensorName(prefix, l, "radius"), network.dtype(), {layer.outputs});
      std::memcpy(network.Radii(l), radii.bytes.data(), radii.bytes.size());
      RequireFinite(TensorName(prefix, l, "radius"), network.Radii(l), network.dtype(), layer.outputs, 0, true);
    }
  }
}

}  // namespace

Network ReadNetwork(const SafetensorsFile& file, const json& node, const std::string& prefix,
                    std::span<const Activation> custom) {
  RequireTensors(file, node, prefix);
  Network network = NetworkFrom(node, custom);
  CopyTensors(file, prefix, StorageIn(node), network);
  return network;
}

void AddTensors(const Network& network, WeightStorage storage, const std::string& prefix, TensorsOfNetworks& tensors) {
  if (const MatrixView scales = network.MemberScales(); !scales.empty()) {
    tensors.views[prefix + kMemberScale] = ViewOfArray(scales.data, scales.dtype, {scales.rows, scales.cols});
  }
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& layer = network.layers()[l];
    const int64_t outputs = layer.outputs * network.blocks(l);
    const std::string weight = TensorName(prefix, l, "weight");
    if (StoresWeights(layer, storage)) {
      const StoredWeights& stored = tensors.rounded.emplace_back(StoreLayer(network, l, storage));
      AddMatrix(weight, stored.numbers.view(), tensors.without_zeros, tensors.views);
      if (!stored.scales.empty()) {
        tensors.views[TensorName(prefix, l, kScale)] = ViewOfArray(stored.scales.data(), DType::kF32, {outputs});
      }
    } else if (const auto list = network.ListedWeights(l);
               list == nullptr || !AddList(weight, *list, network.dtype(), tensors.without_zeros, tensors.views)) {
      AddMatrix(weight, network.Weights(l), tensors.without_zeros, tensors.views);
    }
    if (layer.bias) {
      tensors.views[TensorName(prefix, l, "bias")] = ViewOfArray(network.Bias(l), network.dtype(), {outputs});
    }
    if (layer.trained_radius) {
      tensors.views[TensorName(prefix, l, "radius")] = ViewOfArray(network.Radii(l), network.dtype(), {layer.outputs});
    }
  }
}

}  // namespace lamina
