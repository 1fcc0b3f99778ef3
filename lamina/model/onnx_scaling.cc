// Scaling as a graph.
#include "lamina/model/onnx_scaling.h"

#include <algorithm>
#include <numbers>
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

  // made(value) in the columns of `curve`, `value` in the others.
  template <class Make>
  std::string Where(Curve curve, const std::string& value, const Make& make) const {
    std::string of_curve;  // a byte a column
    for (const ColumnScaling& scaling : scalings) {
      of_curve += scaling.curve == curve ? '\1' : '\0';
    }
    if (of_curve.find('\1') == std::string::npos) {
      return value;
    }
    std::string made = make();
    if (of_curve.find('\0') == std::string::npos) {
      return made;
    }
    return Node("Where", {graph.Constant("of_curve", OnnxType::kBool, {std::ssize(of_curve)}, of_curve), made, value});
  }

  // sign(x) · magnitude(|x|) in the columns of logarithms, x in the others.
  template <class Magnitude>
  std::string Signed(const std::string& value, const Magnitude& magnitude) const {
    return Where(Curve::kLogarithm, value, [&] {
      return Node("Mul", {Node("Sign", {value}), magnitude(Node("Abs", {value}))});
    });
  }

  // As SmoothClip(): its limit from afar is reached long before.
  std::string Clipped(const std::string& value) const {
    const std::string near = Node("Max", {Node("Min", {value, graph.Scalar(dtype, 1e9)}), graph.Scalar(dtype, -1e9)});
    const std::string third = Node("Div", {near, graph.Scalar(dtype, 3)});
    return Node("Div", {near, Node("Sqrt", {Node("Add", {Node("Mul", {third, third}), One()})})});
  }
};

}  // namespace

std::string EncodeInGraph(OnnxGraph& graph, DType dtype, std::string value, std::span<const ColumnScaling> scalings) {
  const Builder build{graph, dtype, scalings};
  value = build.Signed(value, [&](const std::string& size) {
    return build.Node("Log", {build.Node("Add", {size, build.One()})});
  });
  value = build.Apply("Sub", value, &ColumnScaling::offset, 0);
  value = build.Apply("Div", value, &ColumnScaling::scale, 1);
  value = build.Where(Curve::kSmoothClip, value, [&] { return build.Clipped(value); });
  value = build.Where(Curve::kSine, value, [&] {
    return build.Node("Sin", {build.Node("Mul", {value, graph.Scalar(dtype, 2 * std::numbers::pi)})});
  });
  value = build.Where(Curve::kEquals, value, [&] {
    const std::string equals = build.Node("Equal", {value, graph.Scalar(dtype, 0)});
    return graph.Node("Cast", {equals}, {{"to", static_cast<int64_t>(OnnxTypeOf(dtype))}});
  });
  value = build.Apply("Max", value, &ColumnScaling::low, -ColumnScaling::kUnlimited);
  return build.Apply("Min", value, &ColumnScaling::high, ColumnScaling::kUnlimited);
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
