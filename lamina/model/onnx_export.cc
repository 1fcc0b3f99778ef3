// Models as graphs of standard operators.
#include "lamina/model/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/model/network_file.h"
#include "lamina/model/onnx_activation.h"
#include "lamina/model/onnx_graph.h"
#include "lamina/model/onnx_inputs.h"
#include "lamina/model/onnx_scaling.h"
#include "lamina/model/onnx_weights.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr int64_t kLargestFile_bytes = (int64_t{1} << 31) - (int64_t{1} << 20);  // protobuf reads less than 2 GiB
// Differences of one sample from the neurons of a distance layer that exist at once; a layer of more is cut.
constexpr int64_t kDistanceElements = 1 << 18;

std::string_view Bytes(const void* data, int64_t elements, DType dtype) {
  return {static_cast<const char*>(data), static_cast<size_t>(elements * DTypeSize_bytes(dtype))};
}

class Exporter {
 public:
  explicit Exporter(const Model& model) : model_(model), dtype_(model.network.dtype()) {}

  std::string Run() {
    const bool plain = model_.preprocessor.inputs().count() == 0;
    std::string value = plain ? PlainInput() : InputsInGraph(graph_, model_.preprocessor, dtype_, taken_);
    const std::string encoded = value;
    const std::string shares = model_.gates ? SharesInGraph(encoded) : "";
    storage_ = model_.weights;
    for (int64_t i = 0; i < model_.networks(); ++i) {
      network_ = &model_.network_at(i);
      prefix_ = PrefixOfNetwork(i);
      const std::string answer = AnswerOfNetwork(encoded);
      const std::string part = model_.others.empty() ? answer : Node("Mul", {answer, ShareInGraph(shares, i)});
      value = i == 0 ? part : Node("Add", {value, part});
    }
    Answers(value);
    std::map<std::string, std::string> metadata{{"lamina.network", model_.ShapeText()},
                                                {"lamina.loss", model_.loss.Text()}};
    if (model_.preprocessor.inputs().count() > 0) {
      json columns = json::array();
      for (const FittedColumn& column : model_.preprocessor.inputs().columns()) {
        columns.push_back(column.name);
      }
      metadata["input_columns"] = Dump(columns);
      metadata["classes"] = Dump(model_.preprocessor.targets().class_names());
      metadata["targets"] = Dump(model_.preprocessor.targets().answer_names());
    }
    return graph_.Model("lamina " + model_.ShapeText(), metadata);
  }

 private:
  static std::string Dump(const json& node) { return node.dump(-1, ' ', false, json::error_handler_t::replace); }

  std::string NameOfLayer(size_t l, const char* what) const {
    return fmt::format("{}layer.{}.{}", prefix_, l + 1, what);
  }

  std::string PlainInput() {
    graph_.AddInput("input", OnnxTypeOf(dtype_), model_.network.inputs());
    return "input";
  }

  // The shares of each row and network, by Model::gates.
  std::string SharesInGraph(const std::string& encoded) {
    network_ = &*model_.gates;
    prefix_ = "gates.";
    const std::string gates = AnswerOfNetwork(encoded);
    const int64_t last[] = {1};
    return Node("Div", {gates, graph_.Node("ReduceSum", {gates, graph_.Vector(last)}, {{"keepdims", int64_t{1}}})});
  }

  std::string ShareInGraph(const std::string& shares, int64_t network) {
    if (shares.empty()) {
      return Scalar(model_.share_of(network));
    }
    const int64_t place[] = {network};
    return graph_.Node("Gather", {shares, graph_.Vector(place)}, {{"axis", int64_t{1}}});
  }

  std::string AnswerOfNetwork(std::string value) {
    const int64_t members = network_->members();
    if (members > 1) {
      value = ExpandedInput(value);
    }
    std::string skipped;  // what the residual block was given
    for (size_t l = 0; l < network_->layers().size(); ++l) {
      skipped = network_->BeginsResidual(l) ? value : skipped;
      value = Layer(l, value);
      if (network_->layers()[l].residual > 0) {
        value = graph_.Node("Add", {value, skipped});
      }
    }
    return members == 1 ? value
                        : graph_.Node("ReduceMean", {Reshaped(value, {members, -1, network_->outputs()})},
                                      {{"axes", std::vector<int64_t>{0}}, {"keepdims", int64_t{0}}});
  }

  std::string Cast(const std::string& value, DType to) {
    return graph_.Node("Cast", {value}, {{"to", static_cast<int64_t>(OnnxTypeOf(to))}});
  }

  std::string Reshaped(const std::string& value, const std::vector<int64_t>& shape) {
    return graph_.Node("Reshape", {value, graph_.Vector(shape)});
  }

  // Every row times the factors of every member, those of one together.
  std::string ExpandedInput(const std::string& x) {
    const MatrixView scales = network_->MemberScales();
    const int64_t first[] = {0};
    const std::string factors =
        graph_.Constant(prefix_ + "member_scale", OnnxTypeOf(dtype_), {scales.rows, 1, scales.cols},
                        Bytes(scales.data, scales.rows * scales.cols, dtype_));
    const std::string rows = graph_.Node("Unsqueeze", {x, graph_.Vector(first)});
    return Reshaped(graph_.Node("Mul", {rows, factors}), {-1, scales.cols});
  }

  // The output layer of each member on its rows.
  std::string MemberProducts(size_t l, const std::string& x) {
    const LayerSpec& layer = network_->layers()[l];
    const int64_t members = network_->members();
    const std::string weights = graph_.Node(
        "Transpose",
        {Reshaped(WeightsInGraph(graph_, *network_, storage_, prefix_, l), {members, layer.outputs, layer.inputs})},
        {{"perm", std::vector<int64_t>{0, 2, 1}}});
    std::string z = graph_.Node("MatMul", {Reshaped(x, {members, -1, layer.inputs}), weights});
    if (layer.bias) {
      z = graph_.Node("Add",
                      {z, graph_.Constant(NameOfLayer(l, "bias"), OnnxTypeOf(dtype_), {members, 1, layer.outputs},
                                          Bytes(network_->Bias(l), members * layer.outputs, dtype_))});
    }
    return Reshaped(z, {-1, layer.outputs});
  }

  std::string Layer(size_t l, const std::string& x) {
    const LayerSpec& layer = network_->layers()[l];
    std::string z = network_->blocks(l) > 1          ? MemberProducts(l, x)
                    : layer.synapse == Synapse::kDot ? Products(l, x)
                                                     : Distances(l, x);
    if (layer.trained_radius) {
      z = graph_.Node("Div", {z, graph_.Constant(NameOfLayer(l, "radius"), OnnxTypeOf(dtype_), {layer.outputs},
                                                 Bytes(network_->Radii(l), layer.outputs, dtype_))});
      return ActivationInGraph(graph_, dtype_, layer.activation.WithRadius(1), z);
    }
    return ActivationInGraph(graph_, dtype_, layer.activation, z);
  }

  std::string BiasOf(size_t l) {
    const LayerSpec& layer = network_->layers()[l];
    return graph_.Constant(NameOfLayer(l, "bias"), OnnxTypeOf(dtype_), {layer.outputs},
                           Bytes(network_->Bias(l), layer.outputs, dtype_));
  }

  std::string CentresOf(size_t l, int64_t first, int64_t count) {
    const ConstMatrixView weights = network_->Weights(l);
    return graph_.Constant(
        NameOfLayer(l, "weight"), OnnxTypeOf(dtype_), {count, weights.cols},
        DispatchFloat(dtype_, [&]<class T>(T) { return Bytes(weights.Row<T>(first), count * weights.cols, dtype_); }));
  }

  std::string Products(size_t l, const std::string& x) {
    const LayerSpec& layer = network_->layers()[l];
    std::vector<std::string> inputs{x, WeightsInGraph(graph_, *network_, storage_, prefix_, l)};
    if (layer.bias) {
      inputs.push_back(BiasOf(l));
    }
    return graph_.Node("Gemm", inputs, {{"transB", int64_t{1}}});
  }

  // Sums over the last axis of rows × neurons × inputs, some neurons at a time.
  std::string Distances(size_t l, const std::string& x) {
    const LayerSpec& layer = network_->layers()[l];
    const int64_t middle[] = {1};
    const int64_t last[] = {2};
    const std::string rows = graph_.Node("Unsqueeze", {x, graph_.Vector(middle)});
    const std::string axis = graph_.Vector(last);
    const int64_t step = std::max<int64_t>(1, kDistanceElements / layer.inputs);
    std::vector<std::string> parts;
    for (int64_t first = 0; first < layer.outputs; first += step) {
      const std::string difference =
          graph_.Node("Sub", {rows, CentresOf(l, first, std::min(step, layer.outputs - first))});
      parts.push_back(graph_.Node("ReduceSum", {TermOf(layer.synapse, difference), axis}, {{"keepdims", int64_t{0}}}));
    }
    std::string z = parts.size() == 1 ? parts.front() : graph_.Node("Concat", parts, {{"axis", int64_t{1}}});
    if (layer.synapse == Synapse::kL2) {
      z = graph_.Node("Sqrt", {z});
    }
    return layer.bias ? graph_.Node("Add", {z, BiasOf(l)}) : z;
  }

  // The term of a distance, by its difference.
  std::string TermOf(Synapse synapse, const std::string& difference) {
    switch (synapse) {
      case Synapse::kL1: return Node("Abs", {difference});
      case Synapse::kL2:
      case Synapse::kL2Squared: return Node("Mul", {difference, difference});
      case Synapse::kDot: break;
    }
    // no test: all synapses have theirs
    throw Error(ErrorCode::kUnsupported, "ONNX has no operator for this synapse",
                {.value = std::string(SynapseName(synapse)), .remedy = "Export a network of other synapses."});
  }

  std::string Scalar(double value) { return graph_.Scalar(dtype_, value); }
  std::string Node(const char* operation, std::vector<std::string> inputs) {
    return graph_.Node(operation, std::move(inputs));
  }

  void Answers(const std::string& value) {
    const Preprocessor& data = model_.preprocessor;
    const bool plain = data.inputs().count() == 0;
    if (plain || data.targets().task() == Task::kClassification) {
      const std::string outputs = FreeName(taken_, "outputs");
      graph_.AddOutput(outputs, OnnxTypeOf(dtype_), network_->outputs());
      graph_.NamedNode(outputs, "Identity", {value});
      if (!plain) {
        Labels(value);
      }
      return;
    }
    std::vector<ColumnScaling> scalings;
    for (int64_t j = 0; j < network_->outputs(); ++j) {
      scalings.push_back(data.targets().ScalingOf(j));
    }
    const std::string wide = dtype_ == DType::kF64 ? value : Cast(value, DType::kF64);
    const std::string decoded = InOrder(DecodeInGraph(graph_, DType::kF64, wide, scalings));
    const std::string prediction = FreeName(taken_, "prediction");
    graph_.AddOutput(prediction, OnnxTypeOf(dtype_), network_->outputs());
    graph_.NamedNode(prediction, "Cast", {decoded}, {{"to", static_cast<int64_t>(OnnxTypeOf(dtype_))}});
  }

  // Quantiles of a target that cross are put in order.
  std::string InOrder(const std::string& answers) {
    const int64_t each = model_.preprocessor.targets().OutputsOfTarget();
    if (each == 1) {
      return answers;
    }
    const int64_t targets[] = {-1, each};
    const int64_t count[] = {each};
    const int64_t outputs[] = {-1, network_->outputs()};
    const std::string groups = graph_.Node("Reshape", {answers, graph_.Vector(targets)});
    const std::string ascending = graph_.FirstOf(2, "TopK", {groups, graph_.Vector(count)}, {{"largest", int64_t{0}}});
    return graph_.Node("Reshape", {ascending, graph_.Vector(outputs)});
  }

  void Labels(const std::string& outputs) {
    const Preprocessor& data = model_.preprocessor;
    std::vector<std::string> names = data.targets().class_names();
    std::string index;
    if (data.targets().form().single_output) {
      const std::string above = Node("Greater", {outputs, Scalar(data.targets().class_threshold())});
      const std::string number = graph_.Node("Cast", {above}, {{"to", static_cast<int64_t>(OnnxType::kInt64)}});
      const int64_t second[] = {1};
      index = graph_.Node("Squeeze", {number, graph_.Vector(second)});
      if (!data.targets().highest_wins()) {
        std::swap(names[0], names[1]);
      }
    } else {
      index = graph_.Node(data.targets().highest_wins() ? "ArgMax" : "ArgMin", {outputs},
                          {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
    }
    std::vector<int64_t> keys;
    for (int64_t i = 0; i < std::ssize(names); ++i) {
      keys.push_back(i);
    }
    const std::string label = FreeName(taken_, "label");
    graph_.AddOutput(label, OnnxType::kString, 0);
    // No class where the outputs are no numbers.
    const int64_t columns[] = {1};
    const std::string none =
        Node("IsNaN", {graph_.Node("ReduceSum", {outputs, graph_.Vector(columns)}, {{"keepdims", int64_t{0}}})});
    const int64_t no_class[] = {-1};
    index = Node("Where", {none, graph_.Vector(no_class), index});
    graph_.NamedNode(label, "LabelEncoder", {index},
                     {{"keys_int64s", keys}, {"values_strings", names}, {"default_string", std::string()}},
                     OnnxGraph::kMlDomain);
  }

  const Model& model_;
  const Network* network_ = nullptr;  // the one that is being written, and the beginning of its names
  std::string prefix_;
  WeightStorage storage_ = WeightStorage::kExact;
  DType dtype_;
  OnnxGraph graph_;
  std::set<std::string> taken_;  // names of text columns
};

}  // namespace

std::string ToOnnx(const Model& model) {
  RefuseNearest(model, "an ONNX file");
  if (model.stored_bytes() > kLargestFile_bytes) {
    // no test: it takes a network of 2 GiB
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("an ONNX file holds less than 2 GiB, and the network has {} parameters", model.parameter_count()),
        {.remedy = "Use the model file: any safetensors reader opens its weights."});
  }
  return Exporter(model).Run();
}

}  // namespace lamina
