// Few bits and the operator that widens them.
#include "lamina/model/onnx_weights.h"

#include <fmt/format.h>

#include "lamina/base/convert.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

OnnxType ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kBF16: return OnnxType::kBFloat16;
    case DType::kF16: return OnnxType::kFloat16;
    case DType::kI8: return OnnxType::kInt8;
    default: return OnnxTypeOf(dtype);
  }
}

}  // namespace

std::string WeightsInGraph(OnnxGraph& graph, const Network& network, WeightStorage storage, const std::string& prefix,
                           size_t layer) {
  const OnnxType type = OnnxTypeOf(network.dtype());
  const StoredWeights stored = StoreLayer(network, layer, storage);
  const Matrix& numbers = stored.numbers;
  const auto name = [&](const char* what) { return fmt::format("{}layer.{}.{}", prefix, layer + 1, what); };
  const int64_t size_bytes = numbers.rows() * numbers.cols() * DTypeSize_bytes(numbers.dtype());
  std::string value = graph.Constant(name("weight"), ElementOf(numbers.dtype()), {numbers.rows(), numbers.cols()},
                                     {static_cast<const char*>(numbers.data()), static_cast<size_t>(size_bytes)});
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
