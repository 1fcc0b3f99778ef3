// Scaling as a graph.
#include "lamina/model/onnx_scaling.h"

#include <algorithm>
#include <vector>

namespace lamina {
namespace {

// The operators of one scaling of all columns, on a value of `dtype`.
struct Builder {
  OnnxGraph& graph;
  DType dtype;
  std::span<const ColumnScaling> scalings;

  std::string Node(const char* operation, std::vector<std::string> inputs) const {
    return graph.Node(operation, std::move(inputs));
  }
  std::string One() const { return graph.Scalar(dtype, 1); }

  // One part of every column's scaling against `value`; nothing where the part is `neutral` in all of them.
  std::string Apply(const char* operation, const std::string& value, double ColumnScaling::*part,
                    double neutral) const {
    std::vector<double> parts;
    for (const ColumnScaling& scaling : scalings) {
      parts.push_back(scaling.*part);
    }
    const bool nothing = std::all_of(parts.begin(), parts.end(), [&](double each) { return each == neutral; });
    return nothing ? value : Node(operation, {value, graph.Vector(dtype, parts)});
  }

  // sign(x) · magnitude(|x|) in the columns of logarithms, x in the others.
  template <class Magnitude>
  std::string Signed(const std::string& value, const Magnitude& magnitude) const {
    std::string logarithmic;  // a byte a column
    for (const ColumnScaling& scaling : scalings) {
      logarithmic += scaling.logarithm ? '\1' : '\0';
    }
    if (logarithmic.find('\1') == std::string::npos) {
      return value;
    }
    const std::string made = Node("Mul", {Node("Sign", {value}), magnitude(Node("Abs", {value}))});
    if (logarithmic.find('\0') == std::string::npos) {
      return made;
    }
    return Node("Where",
                {graph.Constant("logarithmic", OnnxType::kBool, {std::ssize(logarithmic)}, logarithmic), made, value});
  }
};

}  // namespace

std::string EncodeInGraph(OnnxGraph& graph, DType dtype, std::string value, std::span<const ColumnScaling> scalings) {
  const Builder build{graph, dtype, scalings};
  value = build.Signed(value, [&](const std::string& size) {
    return build.Node("Log", {build.Node("Add", {size, build.One()})});
  });
  value = build.Apply("Sub", value, &ColumnScaling::offset, 0);
  return build.Apply("Div", value, &ColumnScaling::scale, 1);
}

std::string DecodeInGraph(OnnxGraph& graph, DType dtype, std::string value, std::span<const ColumnScaling> scalings) {
  const Builder build{graph, dtype, scalings};
  value = build.Apply("Mul", value, &ColumnScaling::scale, 1);
  value = build.Apply("Add", value, &ColumnScaling::offset, 0);
  return build.Signed(value, [&](const std::string& size) {
    return build.Node("Sub", {build.Node("Exp", {size}), build.One()});
  });
}

}  // namespace lamina
