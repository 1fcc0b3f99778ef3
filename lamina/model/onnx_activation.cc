// Formulas as operators, in numbers of the network's type.
#include "lamina/model/onnx_activation.h"

#include <span>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/neuron/formulas.h"

namespace lamina {
namespace {

class ActivationNodes {
 public:
  ActivationNodes(OnnxGraph& graph, DType dtype) : graph_(graph), dtype_(dtype) {}

  std::string Activate(const Activation& activation, const std::string& z) {
    const std::string& name = activation.name();
    if (activation.is_softmax()) {
      return graph_.Node("Softmax", {z}, {{"axis", int64_t{1}}});
    }
    if (activation.kind() != Activation::kCustom) {
      if (name == formulas::Identity::kName) {
        return z;
      }
      for (const auto& [own, operation] : {std::pair{formulas::Sigmoid::kName, "Sigmoid"},
                                           {formulas::HyperbolicTangent::kName, "Tanh"},
                                           {formulas::Relu::kName, "Relu"},
                                           {formulas::Absolute::kName, "Abs"}}) {
        if (name == own) {
          return Node(operation, {z});
        }
      }
      for (const auto family : {&ActivationNodes::Rectifier, &ActivationNodes::Curve, &ActivationNodes::Radial}) {
        if (std::string result = (this->*family)(name, activation.parameters(), z); !result.empty()) {
          return result;
        }
      }
    }
    throw Error(ErrorCode::kUnsupported, "ONNX has no operator for this activation",
                {.value = name, .remedy = "Export a network of lamina's own activations."});
  }

 private:
  // Each family gives "" for the activations of others.
  std::string Rectifier(const std::string& name, std::span<const double> parameters, const std::string& z) {
    if (name == formulas::LeakyRelu::kName) {  // the operator has its slope in f32 only
      return Node("Where", {Node("Greater", {z, Scalar(0)}), z, Node("Mul", {z, Scalar(parameters[0])})});
    }
    if (name == formulas::Gelu::kName) {
      return Gelu(z);
    }
    if (name == formulas::Silu::kName) {
      return Node("Mul", {z, Node("Sigmoid", {z})});
    }
    if (name == formulas::Mish::kName) {  // the operator came with opset 18
      return Node("Mul", {z, Node("Tanh", {Softplus(z)})});
    }
    if (name == formulas::Elu::kName) {
      return Node("Add", {Node("Relu", {z}), Node("Mul", {PowerBelow(z), Scalar(parameters[0])})});
    }
    if (name == formulas::Selu::kName) {
      return Node("Add", {Node("Mul", {Node("Relu", {z}), Scalar(formulas::Selu::kScale)}),
                          Node("Mul", {PowerBelow(z), Scalar(formulas::Selu::kScaledAlpha)})});
    }
    return name == formulas::Softplus::kName ? Softplus(z) : "";
  }

  std::string Curve(const std::string& name, std::span<const double> parameters, const std::string& z) {
    if (name == formulas::Exponential::kName) {
      return Node("Exp", {Node("Min", {z, Scalar(formulas::Exponential::kMostInput)})});
    }
    if (name == formulas::BipolarSigmoid::kName) {  // 2 sigmoid(gain (z - threshold)) - 1
      const std::string u = Node("Mul", {Node("Sub", {z, Scalar(parameters[1])}), Scalar(parameters[0])});
      return Node("Sub", {Node("Mul", {Node("Sigmoid", {u}), Scalar(2)}), Scalar(1)});
    }
    if (name == formulas::SaturatedLinear::kName) {
      const std::string above = Node("Relu", {Node("Sub", {z, Scalar(1)})});
      return Node("Sub", {Node("Sub", {Node("Relu", {Node("Add", {z, Scalar(1)})}), above}), Scalar(1)});
    }
    if (name == formulas::Sine::kName) {
      const std::string below = Node("Min", {z, Scalar(formulas::Sine::kMostInput)});
      return Node("Sin", {Node("Max", {below, Scalar(-formulas::Sine::kMostInput)})});
    }
    return "";
  }

  std::string Radial(const std::string& name, std::span<const double> parameters, const std::string& z) {
    if (name == formulas::Triangle::kName) {
      return Node("Relu",
                  {Node("Sub", {Scalar(1), Node("Div", {z, Scalar(formulas::Triangle::kWidth * parameters[0])})})});
    }
    if (name == formulas::Gaussian::kName) {
      const std::string u = Node("Div", {z, Scalar(parameters[0])});
      return Node("Exp", {Node("Mul", {Node("Mul", {u, u}), Scalar(-0.5)})});
    }
    if (name == formulas::Laplace::kName) {
      const std::string u = Node("Div", {Node("Abs", {z}), Scalar(parameters[0])});
      return Node("Exp", {Node("Neg", {parameters[1] == 1 ? u : Node("Pow", {u, Scalar(parameters[1])})})});
    }
    if (name == formulas::Multiquadric::kName) {
      return Node("Sqrt", {Node("Add", {Node("Mul", {z, z}), Scalar(1)})});
    }
    return "";
  }

  // ln(1 + e^z) without overflow. The operator of that name is f32 only in the runtimes.
  std::string Softplus(const std::string& z) {
    const std::string power = Node("Exp", {Node("Neg", {Node("Abs", {z})})});
    return Node("Add", {Node("Relu", {z}), Node("Log", {Node("Add", {power, Scalar(1)})})});
  }

  std::string Gelu(const std::string& z) {
    const std::string cube = Node("Mul", {Node("Mul", {z, z}), z});
    const std::string inner = Node("Add", {z, Node("Mul", {cube, Scalar(formulas::Gelu::kCubic)})});
    const std::string t = Node("Tanh", {Node("Mul", {inner, Scalar(formulas::Gelu::kRootTwoOverPi)})});
    return Node("Mul", {Node("Mul", {z, Scalar(0.5)}), Node("Add", {t, Scalar(1)})});
  }

  // e^min(z, 0) - 1, which does not overflow. The operators Elu and Selu have their numbers in f32 only.
  std::string PowerBelow(const std::string& z) {
    const std::string below = Node("Neg", {Node("Relu", {Node("Neg", {z})})});
    return Node("Sub", {Node("Exp", {below}), Scalar(1)});
  }

  std::string Scalar(double value) { return graph_.Scalar(dtype_, value); }
  std::string Node(const char* operation, std::vector<std::string> inputs) {
    return graph_.Node(operation, std::move(inputs));
  }

  OnnxGraph& graph_;
  DType dtype_;
};

}  // namespace

std::string ActivationInGraph(OnnxGraph& graph, DType dtype, const Activation& activation, const std::string& z) {
  return ActivationNodes(graph, dtype).Activate(activation, z);
}

}  // namespace lamina
