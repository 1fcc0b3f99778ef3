// Few bits and the operator that widens them.
#include "lamina/model/onnx_weights.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "lamina/base/convert.h"
#include "lamina/model/placed_elements.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

constexpr double kMostOfFew = 0.25;          // of the bytes of all weights, for which those that are not 0 stand alone
constexpr size_t kLeastOfFew_bytes = 65536;  // of all weights

OnnxType ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kBF16: return OnnxType::kBFloat16;
    case DType::kF16: return OnnxType::kFloat16;
    case DType::kI8: return OnnxType::kInt8;
    default: return OnnxTypeOf(dtype);
  }
}

std::string_view BytesOf(const Matrix& matrix) {
  const int64_t size_bytes = matrix.rows() * matrix.cols() * DTypeSize_bytes(matrix.dtype());
  return {static_cast<const char*>(matrix.data()), static_cast<size_t>(size_bytes)};
}

// Zeros, among which the other elements are put; a runtime does so once, when it opens the file.
std::string Scattered(OnnxGraph& graph, const std::string& name, const Matrix& numbers, const PlacedElements& placed) {
  const int64_t all[] = {numbers.rows() * numbers.cols()};
  const int64_t shape[] = {numbers.rows(), numbers.cols()};
  const auto count = std::ssize(placed.places);
  const std::string zeros = graph.Node("Expand", {graph.Scalar(numbers.dtype(), 0), graph.Vector(all)});
  const std::string places =
      graph.Constant(name + ".places", OnnxType::kInt32, {count},
                     {reinterpret_cast<const char*>(placed.places.data()), placed.places.size() * sizeof(int32_t)});
  const std::string values = graph.Constant(name + ".values", ElementOf(numbers.dtype()), {count}, placed.elements);
  return graph.Node("Reshape", {graph.Node("ScatterElements", {zeros, places, values}), graph.Vector(shape)});
}

}  // namespace

std::string WeightsInGraph(OnnxGraph& graph, const Network& network, WeightStorage storage, const std::string& prefix,
                           size_t layer) {
  const OnnxType type = OnnxTypeOf(network.dtype());
  const StoredWeights stored = StoreLayer(network, layer, storage);
  const Matrix& numbers = stored.numbers;
  const auto name = [&](const char* what) { return fmt::format("{}layer.{}.{}", prefix, layer + 1, what); };
  if (storage == WeightStorage::kExact && BytesOf(numbers).size() >= kLeastOfFew_bytes) {
    if (const std::optional<PlacedElements> placed = ElementsThatAreNot0(numbers.view(), kMostOfFew)) {
      return Scattered(graph, name("weight"), numbers, *placed);
    }
  }
  std::string value =
      graph.Constant(name("weight"), ElementOf(numbers.dtype()), {numbers.rows(), numbers.cols()}, BytesOf(numbers));
  OnnxType has = ElementOf(numbers.dtype());
  if (!stored.scales.empty()) {
    const std::string scales =
        graph.Constant(name("weight_scale"), OnnxType::kFloat, {numbers.rows()},
                       {reinterpret_cast<const char*>(stored.scales.data()), stored.scales.size() * sizeof(float)});
    value = graph.Node("DequantizeLinear", {value, scales}, {{"axis", int64_t{0}}});
    has = OnnxType::kFloat;
  }
  return has == type ? value : graph.Node("Cast", {value}, {{"to", static_cast<int64_t>(type)}});
}

}  // namespace lamina
