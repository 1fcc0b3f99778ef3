// Models as graphs of standard operators.
#include "lamina/model/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/onnx_activation.h"
#include "lamina/model/onnx_graph.h"
#include "lamina/model/onnx_scaling.h"
#include "lamina/model/onnx_weights.h"
#include "lamina/nn/rounded_network.h"

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
  explicit Exporter(const Model& model) : model_(model), network_(model.network), dtype_(model.network.dtype()) {}

  std::string Run() {
    std::string value = model_.preprocessor.inputs().count() == 0 ? PlainInput() : EncodedInput();
    if (network_.members() > 1) {
      value = ExpandedInput(value);
    }
    for (size_t l = 0; l < network_.layers().size(); ++l) {
      value = Layer(l, value);
    }
    if (network_.members() > 1) {
      value = graph_.Node("ReduceMean", {Reshaped(value, {network_.members(), -1, network_.outputs()})},
                          {{"axes", std::vector<int64_t>{0}}, {"keepdims", int64_t{0}}});
    }
    Answers(value);
    std::map<std::string, std::string> metadata{{"lamina.network", network_.ShapeText()},
                                                {"lamina.loss", model_.loss.Text()}};
    if (model_.preprocessor.inputs().count() > 0) {
      json columns = json::array();
      for (const FittedColumn& column : model_.preprocessor.inputs().columns()) {
        columns.push_back(column.name);
      }
      metadata["input_columns"] = Dump(columns);
      metadata["classes"] = Dump(model_.preprocessor.targets().class_names());
      metadata["targets"] = Dump(model_.preprocessor.targets().names());
    }
    return graph_.Model("lamina " + network_.ShapeText(), metadata);
  }

 private:
  static std::string Dump(const json& node) { return node.dump(-1, ' ', false, json::error_handler_t::replace); }

  // Columns keep their names; what is called the same gets an underscore.
  std::string FreeName(std::string name) const {
    while (taken_.contains(name)) {
      name += '_';
    }
    return name;
  }

  std::string PlainInput() {
    graph_.AddInput("input", OnnxTypeOf(dtype_), network_.inputs());
    return "input";
  }

  // Raw columns to network inputs, in their order.
  std::string EncodedInput() {
    const std::vector<FittedColumn>& columns = model_.preprocessor.inputs().columns();
    for (const FittedColumn& column : columns) {
      if (column.kind == ColumnKind::kText) {
        taken_.insert(column.name);
      }
    }
    const bool numbers_only = taken_.empty();
    const std::string numbers = Numbers(FreeName(numbers_only ? "input" : "numbers"));
    if (numbers_only) {
      return numbers;
    }
    std::vector<std::string> parts;
    std::vector<int64_t> run;  // of neighbouring number columns
    const auto end_run = [&] {
      if (!run.empty()) {
        parts.push_back(
            graph_.Node("Gather", {numbers, graph_.Vector(std::exchange(run, {}))}, {{"axis", int64_t{1}}}));
      }
    };
    int64_t number = 0;
    for (const FittedColumn& column : columns) {
      if (column.kind == ColumnKind::kNumber) {
        run.push_back(number++);
      } else {
        end_run();
        parts.push_back(Text(column));
      }
    }
    end_run();
    return parts.size() == 1 ? parts.front() : graph_.Node("Concat", parts, {{"axis", int64_t{1}}});
  }

  // All number columns at once: missing ones filled, scaled. In double precision as in the program, but for images:
  // x / 255 rounds the same in f32, and runtimes for small devices have no doubles.
  std::string Numbers(const std::string& name) {
    std::vector<ColumnScaling> scalings;
    std::vector<double> fills;
    for (const FittedColumn& column : model_.preprocessor.inputs().columns()) {
      if (column.kind == ColumnKind::kNumber) {
        scalings.push_back(column.scaling);
        fills.push_back(column.fill);
      }
    }
    if (scalings.empty()) {
      return "";
    }
    graph_.AddInput(name, OnnxTypeOf(dtype_), std::ssize(scalings));
    std::string value = name;
    const bool fill = model_.preprocessor.policies().missing == MissingPolicy::kMean;
    if (!fill && std::all_of(scalings.begin(), scalings.end(), std::mem_fn(&ColumnScaling::IsIdentity))) {
      return value;
    }
    const bool only_divided = std::all_of(scalings.begin(), scalings.end(), [](const ColumnScaling& scaling) {
      return !scaling.logarithm && scaling.offset == 0;
    });
    const DType compute = only_divided ? dtype_ : DType::kF64;
    if (compute != dtype_) {
      value = Cast(value, compute);
    }
    if (fill) {
      value = graph_.Node("Where", {graph_.Node("IsNaN", {value}), graph_.Vector(compute, fills), value});
    }
    value = EncodeInGraph(graph_, compute, value, scalings);
    return compute == dtype_ ? value : Cast(value, dtype_);
  }

  // A text column: its category's index, then one input a category, or a number for it. OneHotEncoder also refuses
  // what training did not see, if the model does.
  std::string Text(const FittedColumn& column) {
    graph_.AddInput(column.name, OnnxType::kString, 1);
    std::vector<std::string> keys = column.categories;
    std::vector<int64_t> values;
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < std::ssize(column.categories); ++i) {
      values.push_back(i);
      indices.push_back(i);
    }
    if (model_.preprocessor.policies().missing == MissingPolicy::kMean) {
      for (const std::string& missing : ReadOptions().missing) {
        if (std::find(column.categories.begin(), column.categories.end(), missing) == column.categories.end()) {
          keys.push_back(missing);
          values.push_back(column.fill_category);
        }
      }
    }
    const std::string index = graph_.Node(
        "LabelEncoder", {column.name},
        {{"keys_strings", keys}, {"values_int64s", values}, {"default_int64", int64_t{-1}}}, OnnxGraph::kMlDomain);
    const int64_t zeros = model_.preprocessor.policies().unseen == UnseenPolicy::kZero ? 1 : 0;
    const std::string cube =
        graph_.Node("OneHotEncoder", {index}, {{"cats_int64s", indices}, {"zeros", zeros}}, OnnxGraph::kMlDomain);
    const int64_t shape[] = {-1, std::ssize(indices)};
    std::string one_hot = graph_.Node("Reshape", {cube, graph_.Vector(shape)});
    if (dtype_ == DType::kF64) {
      one_hot = Cast(one_hot, dtype_);
    }
    if (column.one_hot) {
      return one_hot;
    }
    std::vector<double> encoded;
    for (const int64_t i : indices) {
      encoded.push_back(column.scaling.Encode(static_cast<double>(i)));
    }
    const int64_t as_column[] = {-1, 1};
    return graph_.Node("MatMul",
                       {one_hot, graph_.Node("Reshape", {graph_.Vector(dtype_, encoded), graph_.Vector(as_column)})});
  }

  std::string Cast(const std::string& value, DType to) {
    return graph_.Node("Cast", {value}, {{"to", static_cast<int64_t>(OnnxTypeOf(to))}});
  }

  std::string Reshaped(const std::string& value, const std::vector<int64_t>& shape) {
    return graph_.Node("Reshape", {value, graph_.Vector(shape)});
  }

  // Every row times the factors of every member, those of one together.
  std::string ExpandedInput(const std::string& x) {
    const MatrixView scales = network_.MemberScales();
    const int64_t first[] = {0};
    const std::string factors = graph_.Constant("member_scale", OnnxTypeOf(dtype_), {scales.rows, 1, scales.cols},
                                                Bytes(scales.data, scales.rows * scales.cols, dtype_));
    const std::string rows = graph_.Node("Unsqueeze", {x, graph_.Vector(first)});
    return Reshaped(graph_.Node("Mul", {rows, factors}), {-1, scales.cols});
  }

  // The output layer of each member on its rows.
  std::string MemberProducts(size_t l, const std::string& x) {
    const LayerSpec& layer = network_.layers()[l];
    const int64_t members = network_.members();
    const std::string weights =
        graph_.Node("Transpose", {Reshaped(WeightsInGraph(graph_, model_, l), {members, layer.outputs, layer.inputs})},
                    {{"perm", std::vector<int64_t>{0, 2, 1}}});
    std::string z = graph_.Node("MatMul", {Reshaped(x, {members, -1, layer.inputs}), weights});
    if (layer.bias) {
      z = graph_.Node("Add", {z, graph_.Constant(fmt::format("layer.{}.bias", l + 1), OnnxTypeOf(dtype_),
                                                 {members, 1, layer.outputs},
                                                 Bytes(network_.Bias(l), members * layer.outputs, dtype_))});
    }
    return Reshaped(z, {-1, layer.outputs});
  }

  std::string Layer(size_t l, const std::string& x) {
    const LayerSpec& layer = network_.layers()[l];
    std::string z = network_.blocks(l) > 1           ? MemberProducts(l, x)
                    : layer.synapse == Synapse::kDot ? Products(l, x)
                                                     : Distances(l, x);
    if (layer.trained_radius) {
      z = graph_.Node("Div", {z, graph_.Constant(fmt::format("layer.{}.radius", l + 1), OnnxTypeOf(dtype_),
                                                 {layer.outputs}, Bytes(network_.Radii(l), layer.outputs, dtype_))});
      return ActivationInGraph(graph_, dtype_, layer.activation.WithRadius(1), z);
    }
    return ActivationInGraph(graph_, dtype_, layer.activation, z);
  }

  std::string BiasOf(size_t l) {
    const LayerSpec& layer = network_.layers()[l];
    return graph_.Constant(fmt::format("layer.{}.bias", l + 1), OnnxTypeOf(dtype_), {layer.outputs},
                           Bytes(network_.Bias(l), layer.outputs, dtype_));
  }

  std::string CentresOf(size_t l, int64_t first, int64_t count) {
    const ConstMatrixView weights = network_.Weights(l);
    return graph_.Constant(
        fmt::format("layer.{}.weight", l + 1), OnnxTypeOf(dtype_), {count, weights.cols},
        DispatchFloat(dtype_, [&]<class T>(T) { return Bytes(weights.Row<T>(first), count * weights.cols, dtype_); }));
  }

  std::string Products(size_t l, const std::string& x) {
    const LayerSpec& layer = network_.layers()[l];
    std::vector<std::string> inputs{x, WeightsInGraph(graph_, model_, l)};
    if (layer.bias) {
      inputs.push_back(BiasOf(l));
    }
    return graph_.Node("Gemm", inputs, {{"transB", int64_t{1}}});
  }

  // Sums over the last axis of rows × neurons × inputs, some neurons at a time.
  std::string Distances(size_t l, const std::string& x) {
    const LayerSpec& layer = network_.layers()[l];
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
      const std::string outputs = FreeName("outputs");
      graph_.AddOutput(outputs, OnnxTypeOf(dtype_), network_.outputs());
      graph_.NamedNode(outputs, "Identity", {value});
      if (!plain) {
        Labels(value);
      }
      return;
    }
    std::vector<ColumnScaling> scalings;
    for (const FittedColumn& target : data.targets().columns()) {
      scalings.push_back(target.scaling);
    }
    const std::string wide = dtype_ == DType::kF64 ? value : Cast(value, DType::kF64);
    const std::string decoded = DecodeInGraph(graph_, DType::kF64, wide, scalings);
    const std::string prediction = FreeName("prediction");
    graph_.AddOutput(prediction, OnnxTypeOf(dtype_), network_.outputs());
    graph_.NamedNode(prediction, "Cast", {decoded}, {{"to", static_cast<int64_t>(OnnxTypeOf(dtype_))}});
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
    const std::string label = FreeName("label");
    graph_.AddOutput(label, OnnxType::kString, 0);
    graph_.NamedNode(label, "LabelEncoder", {index}, {{"keys_int64s", keys}, {"values_strings", names}},
                     OnnxGraph::kMlDomain);
  }

  const Model& model_;
  const Network& network_;
  DType dtype_;
  OnnxGraph graph_;
  std::set<std::string> taken_;  // names of text columns
};

}  // namespace

std::string ToOnnx(const Model& model) {
  RefuseNearest(model, "an ONNX file");
  if (StoredBytes(model.network, model.weights) > kLargestFile_bytes) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("an ONNX file holds less than 2 GiB, and the network has {} parameters",
                            model.network.parameter_count()),
                {.remedy = "Use the model file: any safetensors reader opens its weights."});
  }
  return Exporter(model).Run();
}

}  // namespace lamina
