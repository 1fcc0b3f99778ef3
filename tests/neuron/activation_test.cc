// Activations: text forms, values and slopes against formulas written here a second time.
#include "lamina/neuron/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"

namespace lamina {
namespace {

double Logistic(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }
double LogisticSlope(double z) { return Logistic(z) * Logistic(-z); }
double SechSquared(double z) { return 4 * LogisticSlope(2 * z); }
double LogOnePlusExp(double z) { return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z)); }

// The papers' formulas, in other words than formulas.inc.
struct Reference {
  const char* text;
  double (*value)(double);
  double (*slope)(double);
};

double GeluInner(double z) { return std::sqrt(2 / M_PI) * (z + 0.044715 * std::pow(z, 3)); }

const Reference kReferences[] = {
    {"identity", [](double z) { return z; }, [](double) { return 1.0; }},
    {"sigmoid", Logistic, LogisticSlope},
    {"bipolar_sigmoid", [](double z) { return std::tanh(z / 2); }, [](double z) { return 2 * LogisticSlope(z); }},
    {"bipolar_sigmoid(gain=2,threshold=0.5)", [](double z) { return std::tanh(z - 0.5); },
     [](double z) { return SechSquared(z - 0.5); }},
    {"bipolar_sigmoid(gain=-0.5,threshold=-3)", [](double z) { return -std::tanh((z + 3) / 4); },
     [](double z) { return -0.25 * SechSquared((z + 3) / 4); }},
    {"tanh", [](double z) { return 1 - 2 * Logistic(-2 * z); }, SechSquared},
    {"relu", [](double z) { return z > 0 ? z : 0.0; }, [](double z) { return z > 0 ? 1.0 : 0.0; }},
    {"leaky_relu", [](double z) { return z > 0 ? z : z / 100; }, [](double z) { return z > 0 ? 1 : 0.01; }},
    {"leaky_relu(slope=0.25)", [](double z) { return z > 0 ? z : z / 4; }, [](double z) { return z > 0 ? 1 : 0.25; }},
    {"gelu", [](double z) { return z * Logistic(2 * GeluInner(z)); },
     [](double z) {
       if (std::abs(z) > 1e6) {
         return z > 0 ? 1.0 : 0.0;
       }
       const double inner_slope = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * z * z);
       return Logistic(2 * GeluInner(z)) + 2 * z * LogisticSlope(2 * GeluInner(z)) * inner_slope;
     }},
    {"triangle", [](double z) { return z < 2.5066 ? (2.5066 - z) / 2.5066 : 0.0; },
     [](double z) { return z < 2.5066 ? -1 / 2.5066 : 0.0; }},
    {"triangle(radius=12)", [](double z) { return z < 30.0792 ? (30.0792 - z) / 30.0792 : 0.0; },
     [](double z) { return z < 30.0792 ? -1 / 30.0792 : 0.0; }},
    {"gaussian", [](double z) { return std::pow(std::exp(-z * z), 0.5); },
     [](double z) { return std::abs(z) > 1e6 ? 0 : -z * std::exp(-z * z / 2); }},
    {"gaussian(radius=2.5)", [](double z) { return std::exp(-z * z / 12.5); },
     [](double z) { return std::abs(z) > 1e6 ? 0 : -z / 6.25 * std::exp(-z * z / 12.5); }},
    {"laplace", [](double z) { return 1 / std::exp(std::abs(z)); },
     [](double z) { return z == 0 ? 0 : std::copysign(1 / std::exp(std::abs(z)), -z); }},
    {"laplace(radius=3,power=1.4)", [](double z) { return std::exp(-std::pow(z * z / 9, 0.7)); },
     [](double z) {
       return std::abs(z) > 1e6
                  ? 0
                  : -1.4 * z / 9 / std::pow(z * z / 9 + 1e-200, 0.3) * std::exp(-std::pow(z * z / 9, 0.7));
     }},
    {"silu", [](double z) { return z * Logistic(z); }, [](double z) { return Logistic(z) + z * LogisticSlope(z); }},
    {"mish", [](double z) { return z * std::tanh(LogOnePlusExp(z)); },
     [](double z) { return std::tanh(LogOnePlusExp(z)) + z * SechSquared(LogOnePlusExp(z)) * Logistic(z); }},
    {"elu", [](double z) { return z > 0 ? z : std::expm1(z); }, [](double z) { return z > 0 ? 1 : std::exp(z); }},
    {"elu(alpha=0.25)", [](double z) { return z > 0 ? z : std::expm1(z) / 4; },
     [](double z) { return z > 0 ? 1 : std::exp(z) / 4; }},
    {"selu", [](double z) { return 1.0507009873554805 * (z > 0 ? z : 1.6732632423543772 * std::expm1(z)); },
     [](double z) { return 1.0507009873554805 * (z > 0 ? 1 : 1.6732632423543772 * std::exp(z)); }},
    {"softplus", LogOnePlusExp, Logistic},
    {"abs", [](double z) { return std::max(z, -z); }, [](double z) { return z > 0   ? 1.0
                                                                            : z < 0 ? -1.0
                                                                                    : 0.0; }},
    {"linsat", [](double z) { return std::clamp(z, -1.0, 1.0); }, [](double z) { return std::abs(z) < 1 ? 1.0 : 0.0; }},
    {"exp", [](double z) { return std::exp(std::min(z, 80.0)); }, [](double z) { return std::exp(std::min(z, 80.0)); }},
    {"sine", [](double z) { return std::sin(std::clamp(z, -1e4, 1e4)); },
     [](double z) { return std::abs(z) > 1e4 ? 0.0 : std::cos(z); }},
    {"multiquadric", [](double z) { return std::hypot(z, 1); },
     [](double z) { return std::isinf(z) ? std::copysign(1, z) : z / std::hypot(z, 1); }},
};

std::ostream& operator<<(std::ostream& out, const Reference& reference) { return out << reference.text; }

class ActivationFormula : public testing::TestWithParam<Reference> {};
INSTANTIATE_TEST_SUITE_P(Builtin, ActivationFormula, testing::ValuesIn(kReferences));

template <class T>
T ValueOf(const Activation& activation, T z) {
  T a = 0;
  activation.Value(&z, &a, 1);
  return a;
}

template <class T>
T SlopeOf(const Activation& activation, T z) {
  const T a = ValueOf(activation, z);
  T g = T(1);
  activation.MultiplySlope(activation.slope_needs_input() ? &z : nullptr, &a, &g, 1);
  return g;
}

std::vector<double> Points() {
  std::vector<double> points{0,   -0.0, 1e-300, -1e-300, 1e-8, -1e-8, 20,   -20,   50,   -50,
                             100, -100, 800,    -800,    1e4,  -1e4,  1e10, -1e10, 1e25, -1e25};
  for (int i = -400; i <= 400; ++i) {
    points.push_back(i * 0.0371 + 0.001);
  }
  return points;
}

template <class T>
void CompareWithReference(const Reference& reference) {
  const Activation activation(reference.text);
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (const double point : Points()) {
    const T z = static_cast<T>(point);
    const double exact = static_cast<double>(z);
    const double value = reference.value(exact);
    const double slope = reference.slope(exact);
    EXPECT_NEAR(ValueOf(activation, z), value, 8 * epsilon * std::max(1.0, std::abs(value))) << "z = " << exact;
    EXPECT_NEAR(SlopeOf(activation, z), slope, 16 * epsilon * std::max(1.0, std::abs(slope))) << "z = " << exact;
  }
}

TEST_P(ActivationFormula, MatchesAnIndependentFormulaInF64) { CompareWithReference<double>(GetParam()); }
TEST_P(ActivationFormula, MatchesAnIndependentFormulaInF32) { CompareWithReference<float>(GetParam()); }

TEST_P(ActivationFormula, SlopeIsTheCentralDifference) {
  const Activation activation(GetParam().text);
  constexpr double kStep = 1e-6;
  for (double z = -4.03; z < 4; z += 0.1) {  // never at the kink
    const double difference = (ValueOf(activation, z + kStep) - ValueOf(activation, z - kStep)) / (2 * kStep);
    EXPECT_NEAR(SlopeOf(activation, z), difference, 1e-8 * std::max(1.0, std::abs(difference))) << "z = " << z;
  }
}

TEST_P(ActivationFormula, NanComesThrough) {
  const Activation activation(GetParam().text);
  EXPECT_TRUE(std::isnan(ValueOf(activation, std::nan(""))));
  EXPECT_TRUE(std::isnan(ValueOf(activation, std::nanf(""))));
}

TEST_P(ActivationFormula, WorksInPlaceAndOnManyValues) {
  const Activation activation(GetParam().text);
  std::vector<double> z(37);
  for (size_t i = 0; i < z.size(); ++i) {
    z[i] = 0.3 * static_cast<double>(i) - 5;
  }
  std::vector<double> a(z.size());
  activation.Value(z.data(), a.data(), static_cast<int64_t>(z.size()));
  std::vector<double> in_place = z;
  activation.Value(in_place.data(), in_place.data(), static_cast<int64_t>(z.size()));
  EXPECT_EQ(in_place, a);
  std::vector<double> g(z.size(), -3.0);
  activation.MultiplySlope(z.data(), a.data(), g.data(), static_cast<int64_t>(z.size()));
  for (size_t i = 0; i < z.size(); ++i) {
    EXPECT_EQ(a[i], ValueOf(activation, z[i]));
    EXPECT_DOUBLE_EQ(g[i], -3.0 * SlopeOf(activation, z[i]));
  }
}

TEST_P(ActivationFormula, TextRoundTrip) {
  const Activation activation(GetParam().text);
  const Activation again(activation.Text());
  EXPECT_EQ(again, activation);
  EXPECT_EQ(again.Text(), activation.Text());
  EXPECT_EQ(again.kind(), activation.kind());
}

TEST(Activation, EveryBuiltinHasAReference) {
  for (const std::string& name : ActivationNames()) {
    bool found = name == "softmax";
    for (const Reference& reference : kReferences) {
      found = found || reference.text == name;
    }
    EXPECT_TRUE(found) << name;
  }
}

TEST(Activation, ParametersKeepTheirBits) {
  for (const double gain : {0.1, 1e-20, 3.0000000000000004, -7.25}) {
    formulas::BipolarSigmoid formula;
    formula.gain = gain;
    const Activation custom = Activation::Custom(formula);
    EXPECT_EQ(Activation::Parse(custom.Text()).parameters()[0], gain);
  }
}

TEST(Activation, ParametersMayBeLeftOutOrReordered) {
  EXPECT_EQ(Activation("bipolar_sigmoid(threshold=0.5,gain=2)").Text(), "bipolar_sigmoid(gain=2,threshold=0.5)");
  EXPECT_EQ(Activation("bipolar_sigmoid(gain=2)").Text(), "bipolar_sigmoid(gain=2,threshold=0)");
  EXPECT_EQ(Activation("leaky_relu").Text(), "leaky_relu(slope=0.01)");
  EXPECT_NE(Activation("leaky_relu"), Activation("leaky_relu(slope=0.02)"));
}

TEST(Activation, UnknownNamesGetTheNearestOne) {
  const Error error = CaughtError([] { Activation("sigmiod"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.context().value, "sigmiod");
  EXPECT_TRUE(Mentions(error.what(), "Did you mean 'sigmoid'?"));
  EXPECT_TRUE(Mentions(error.what(), "bipolar_sigmoid"));
  EXPECT_TRUE(Mentions(error.what(), "softmax"));
  const Activation custom[] = {Activation::Custom<Swish>()};
  EXPECT_TRUE(Mentions(CaughtError([&] { Activation::Parse("swisch", custom); }).what(), "Did you mean 'swish'?"));
}

TEST(Activation, BadTextsAreErrors) {
  for (const char* text : {"",
                           "(",
                           ")",
                           "tanh(",
                           "tanh)",
                           "tanh()",
                           "tanh(gain=1)",
                           "Tanh",
                           " tanh",
                           "tanh ",
                           "softmax(x=1)",
                           "bipolar_sigmoid(gain)",
                           "bipolar_sigmoid(gain=)",
                           "bipolar_sigmoid(gain=x)",
                           "bipolar_sigmoid(gain=nan)",
                           "bipolar_sigmoid(gain=inf)",
                           "bipolar_sigmoid(gain=1,)",
                           "bipolar_sigmoid(gain=1)x",
                           "bipolar_sigmoid(=1)",
                           "bipolar_sigmoid(gain=1",
                           "bipolar_sigmoid(gain=1e999)",
                           "bipolar_sigmoid(gain=0)",
                           "leaky_relu(slope=0)",
                           "leaky_relu(slope=-0.1)",
                           "leaky_relu(slope=1;2)",
                           "triangle(radius=0)",
                           "triangle(radius=-1)",
                           "triangle(radius=inf)",
                           "triangle(radius=nan)",
                           "triangle(r=1)",
                           "elu(alpha=0)",
                           "elu(alpha=-1)",
                           "gaussian(radius=0)",
                           "gaussian(radius=-2)",
                           "gaussian(radius=1e999)"}) {
    EXPECT_EQ(CaughtError([&] { Activation{text}; }).code(), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(Activation, WrongRadiiSaySo) {
  EXPECT_TRUE(Mentions(CaughtError([] { Activation("triangle(radius=0)"); }).what(), "radius of triangle must be pos"));
  EXPECT_TRUE(
      Mentions(CaughtError([] { Activation("gaussian(radius=-1)"); }).what(), "radius of gaussian must be pos"));
  EXPECT_TRUE(Mentions(CaughtError([] { Activation("gaussian(radius=inf)"); }).what(), "must be a finite number"));
}

TEST(Activation, SlopeOfTheTriangleIsZeroAtItsCorner) {
  const Activation triangle("triangle(radius=2)");
  EXPECT_EQ(ValueOf(triangle, 2.5066 * 2), 0.0);
  EXPECT_EQ(SlopeOf(triangle, 2.5066 * 2), 0.0);
  EXPECT_EQ(ValueOf(triangle, 0.0), 1.0);
}

TEST(Activation, SoftmaxOfARow) {
  const Activation softmax("softmax");
  EXPECT_TRUE(softmax.is_softmax());
  const std::vector<std::vector<double>> rows{{1, 2, 3}, {1000, 1001, 999}, {-2000, 0, -1e300}, {5}, {0, 0, 0, 0}};
  for (const std::vector<double>& z : rows) {
    std::vector<double> a(z.size());
    softmax.Value(z.data(), a.data(), static_cast<int64_t>(z.size()));
    for (size_t i = 0; i < z.size(); ++i) {
      double reciprocal = 0;
      for (const double other : z) {
        reciprocal += std::exp(other - z[i]);
      }
      EXPECT_NEAR(a[i], 1 / reciprocal, 1e-15);
    }
  }
  const double bad[] = {1, std::nan(""), 2};
  double a[3];
  softmax.Value(bad, a, 3);
  EXPECT_TRUE(std::isnan(a[0]) && std::isnan(a[1]) && std::isnan(a[2]));
}

TEST(Activation, CustomOnes) {
  const Activation softplus = Activation::Custom<Softplus>();
  EXPECT_EQ(softplus.kind(), Activation::kCustom);
  EXPECT_EQ(softplus.Text(), "my_softplus");
  EXPECT_FALSE(softplus.slope_needs_input());
  EXPECT_NEAR(ValueOf(softplus, 0.5), std::log(1 + std::exp(0.5)), 1e-15);
  EXPECT_NEAR(SlopeOf(softplus, 0.5), Logistic(0.5), 1e-15);
  const Activation custom[] = {softplus, Activation::Custom(Swish{.beta = 2})};
  EXPECT_TRUE(custom[1].slope_needs_input());
  EXPECT_EQ(custom[1].Text(), "swish(beta=2)");
  const Activation parsed = Activation::Parse("swish(beta=0.5)", custom);
  EXPECT_NEAR(ValueOf(parsed, 3.0), 3 * Logistic(1.5), 1e-15);
  EXPECT_NEAR(SlopeOf(parsed, 3.0), Logistic(1.5) + 1.5 * LogisticSlope(1.5), 1e-15);
  EXPECT_EQ(Activation::Parse("swish", custom), custom[1]) << "the user's value is the default";
  EXPECT_EQ(Activation::Parse("tanh", custom).kind(), Activation("tanh").kind());
  EXPECT_THROW(Activation::Parse("swish"), Error);
}

// What classes, weights at the start and radii are chosen by.
TEST(Activation, FactsOfTheFormulas) {
  const std::vector<std::string> bipolar{"bipolar_sigmoid", "tanh", "linsat", "sine"};
  const std::vector<std::string> relu_like{"relu", "leaky_relu", "gelu", "silu", "mish", "elu", "selu", "softplus"};
  const auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : ActivationNames()) {
    EXPECT_EQ(Activation(name).bipolar(), among(bipolar, name)) << name;
    EXPECT_EQ(Activation(name).relu_like(), among(relu_like, name)) << name;
    EXPECT_EQ(Activation(name).radius() > 0, name == "triangle" || name == "gaussian" || name == "laplace") << name;
  }
  EXPECT_FALSE(Activation::Custom<Swish>().relu_like());
}

TEST(Activation, Radius) {
  EXPECT_EQ(Activation("triangle(radius=12)").radius(), 12);
  EXPECT_EQ(Activation("gaussian").radius(), 1);
  EXPECT_EQ(Activation("triangle(radius=12)").WithRadius(0.5).Text(), "triangle(radius=0.5)");
  for (const char* text : {"tanh", "softmax", "leaky_relu(slope=0.5)", "bipolar_sigmoid"}) {
    EXPECT_EQ(Activation(text).radius(), 0) << text;
  }
}

}  // namespace
}  // namespace lamina
