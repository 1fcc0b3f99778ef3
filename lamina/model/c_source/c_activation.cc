// Formulas as text, in numbers of the network's type.
#include "lamina/model/c_source/c_activation.h"

#include <vector>

#include "lamina/base/error.h"
#include "lamina/neuron/formulas.h"

namespace lamina {
namespace {

// The statements of a function of z. N, F: a number and a function of math.h in the network's type.
class Formula {
 public:
  Formula(const CWriter& out, const Activation& activation) : out_(out), activation_(activation) {}

  // "" for one that is none of lamina's own.
  std::string Body() const {
    if (activation_.kind() == Activation::kCustom) {
      return "";
    }
    for (const auto family : {&Formula::Rectifier, &Formula::Curve, &Formula::Radial}) {
      if (std::string body = (this->*family)(activation_.name()); !body.empty()) {
        return body;
      }
    }
    return "";
  }

 private:
  std::string N(double value) const { return out_.Number(value); }
  std::string F(const char* function) const { return out_.Function(function); }
  double P(size_t index) const { return activation_.parameters()[index]; }
  std::string Real() const { return out_.real(); }

  std::string Rectifier(const std::string& name) const {
    if (name == formulas::Relu::kName) {
      return fmt::format("return z > {0} ? z : {0};", N(0));
    }
    if (name == formulas::Absolute::kName) {
      return fmt::format("return {}(z);", F("fabs"));
    }
    if (name == formulas::LeakyRelu::kName) {
      return fmt::format("return z > {} ? z : {} * z;", N(0), N(P(0)));
    }
    if (name == formulas::Elu::kName || name == formulas::Selu::kName) {
      const bool selu = name == formulas::Selu::kName;
      const std::string above = selu ? N(formulas::Selu::kScale) + " * z" : "z";
      return fmt::format("return z > {} ? {} : {} * {}(z);", N(0), above, N(selu ? formulas::Selu::kScaledAlpha : P(0)),
                         F("expm1"));
    }
    if (name == formulas::Gelu::kName) {
      return fmt::format("return {} * z * ({} + {}({} * (z + {} * z * z * z)));", N(0.5), N(1), F("tanh"),
                         N(formulas::Gelu::kRootTwoOverPi), N(formulas::Gelu::kCubic));
    }
    if (name == formulas::Silu::kName) {
      return fmt::format("return z / ({} + {}(-z));", N(1), F("exp"));
    }
    if (name == formulas::Mish::kName) {
      return fmt::format(
          "const {0} power = {1}(z < {2} ? z : {2});\n  const {0} n = power * (power + {3});\n"
          "  return z * (n / (n + {3}));",
          Real(), F("exp"), N(20), N(2));
    }
    return name == formulas::Softplus::kName
               ? fmt::format("return (z > {0} ? z : {0}) + {1}({2}(-{3}(z)));", N(0), F("log1p"), F("exp"), F("fabs"))
               : "";
  }

  std::string Curve(const std::string& name) const {
    if (name == formulas::Sigmoid::kName) {
      return fmt::format("return {0} / ({0} + {1}(-z));", N(1), F("exp"));
    }
    if (name == formulas::HyperbolicTangent::kName) {
      return fmt::format("return {}(z);", F("tanh"));
    }
    if (name == formulas::BipolarSigmoid::kName) {
      return fmt::format("return {} / ({} + {}({} * ({} - z))) - {};", N(2), N(1), F("exp"), N(P(0)), N(P(1)), N(1));
    }
    if (name == formulas::SaturatedLinear::kName) {
      return fmt::format("return z < -{0} ? -{0} : z > {0} ? {0} : z;", N(1));
    }
    if (name == formulas::Exponential::kName) {
      return fmt::format("return {0}(z < {1} ? z : {1});", F("exp"), N(formulas::Exponential::kMostInput));
    }
    if (name == formulas::Sine::kName) {
      return fmt::format("return {0}(z < -{1} ? -{1} : z > {1} ? {1} : z);", F("sin"), N(formulas::Sine::kMostInput));
    }
    return "";
  }

  std::string Radial(const std::string& name) const {
    if (name == formulas::Triangle::kName) {
      return fmt::format("const {0} a = {1} - z / {2};\n  return a > {3} ? a : {3};", Real(), N(1),
                         N(formulas::Triangle::kWidth * P(0)), N(0));
    }
    if (name == formulas::Gaussian::kName) {
      return fmt::format("const {0} u = z / {1};\n  return {2}(-{3} * u * u);", Real(), N(P(0)), F("exp"), N(0.5));
    }
    if (name == formulas::Laplace::kName) {
      const std::string u = fmt::format("{}(z) / {}", F("fabs"), N(P(0)));
      return P(1) == 1 ? fmt::format("return {}(-({}));", F("exp"), u)
                       : fmt::format("return {}(-{}({}, {}));", F("exp"), F("pow"), u, N(P(1)));
    }
    if (name == formulas::Multiquadric::kName) {
      return fmt::format("return {}({}, z);", F("hypot"), N(1));
    }
    return "";
  }

  const CWriter& out_;
  const Activation& activation_;
};

}  // namespace

std::string CActivations::Function(const Activation& activation) {
  if (activation.is_softmax() ||
      (activation.kind() != Activation::kCustom && activation.name() == formulas::Identity::kName)) {
    return "";
  }
  std::string& name = names_[activation.Text()];
  if (name.empty()) {
    const std::string body = Formula(out_, activation).Body();
    if (body.empty()) {
      throw Error(ErrorCode::kUnsupported, "there is no C text for this activation",
                  {.value = activation.name(), .remedy = "Export a network of lamina's own activations."});
    }
    const int count = ++counts_[activation.name()];
    name = fmt::format("{}_{}{}", out_.name(), activation.name(), count == 1 ? "" : fmt::format("_{}", count));
    out_.Add("/* {} */\nstatic {} {}({} z) {{\n  {}\n}}\n\n", activation.Text(), out_.real(), name, out_.real(), body);
  }
  return name;
}

}  // namespace lamina
