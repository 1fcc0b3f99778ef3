// The errors of activations and slopes over vectors, of every instruction set, against long doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "lamina/backend/keeps_slopes.h"
#include "tests/conformance/configurations.h"

namespace lamina::conformance {
namespace {

using Real = long double;

struct Reference {
  const char* name;
  Real (*value)(Real);
  Real (*slope)(Real);
};

Real Sigmoid(Real z) { return z > 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }
Real GeluSigmoid(Real z) { return Sigmoid(2 * std::sqrt(2 / std::acos(Real(-1))) * (z + Real(0.044715) * z * z * z)); }
Real Softplus(Real z) { return std::max<Real>(z, 0) + std::log1p(std::exp(-std::abs(z))); }

constexpr Real kSeluScale = 1.05070098735548049341933498529L;
constexpr Real kSeluAlpha = 1.67326324235437728481704297171L;

const Reference kReferences[] = {
    {"tanh", [](Real z) { return std::tanh(z); }, [](Real z) { return 1 / (std::cosh(z) * std::cosh(z)); }},
    {"sigmoid", &Sigmoid, [](Real z) { return Sigmoid(z) * Sigmoid(-z); }},
    {"elu", [](Real z) { return z > 0 ? z : std::expm1(z); }, [](Real z) { return z > 0 ? 1 : std::exp(z); }},
    {"selu", [](Real z) { return kSeluScale * (z > 0 ? z : kSeluAlpha * std::expm1(z)); },
     [](Real z) { return kSeluScale * (z > 0 ? 1 : kSeluAlpha * std::exp(z)); }},
    {"silu", [](Real z) { return z * Sigmoid(z); }, [](Real z) { return Sigmoid(z) * (1 + z * Sigmoid(-z)); }},
    {"gelu", [](Real z) { return z * GeluSigmoid(z); },
     [](Real z) {
       const Real inner = 2 * std::sqrt(2 / std::acos(Real(-1))) * (1 + 3 * Real(0.044715) * z * z);
       return GeluSigmoid(z) * (1 + z * inner * GeluSigmoid(-z));
     }},
    {"mish", [](Real z) { return z * std::tanh(Softplus(z)); },
     [](Real z) {
       const Real t = std::tanh(Softplus(z));
       return t + z * (1 - t * t) * Sigmoid(z);
     }},
    {"softplus", &Softplus, &Sigmoid}};

// Around 0, where digits are lost first, everywhere that the curves bend, and far out.
std::vector<double> Places() {
  std::vector<double> places{0, -0.0, 1e3, -1e3, 1e4, -1e4};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> even(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    places.push_back(12 * even(random));
    places.push_back(100 * even(random));
    places.push_back(even(random) * std::pow(10.0, -8 * std::abs(even(random))));
  }
  return places;
}

template <class T>
struct Column {
  explicit Column(int64_t rows) : values(static_cast<size_t>(rows)) {}
  MatrixView view() { return {values.data(), std::ssize(values), 1, 1, DTypeOf<T>()}; }
  std::vector<T> values;
};

// Where value and slope share a sigmoid, it is kept finite far below 0: training need not know smaller values.
template <class T>
constexpr Real kLeastKept = sizeof(T) == 4 ? 1e-37L : 1e-261L;

template <class T>
void ExpectBounds(const Reference& reference, Real least, const Column<T>& z, const Column<T>& a,
                  const Column<T>& slope) {
  const Real eps = std::numeric_limits<T>::epsilon();
  Real worst_value = 0;
  Real worst_slope = 0;
  for (size_t i = 0; i < z.values.size(); ++i) {
    const Real at = z.values[i];
    const Real value = reference.value(at);
    const Real steep = reference.slope(at);
    // The unit is the last place of the answer, and what an error in the last place of z makes of it. Far below 0,
    // gelu's answers are no better than its sigmoid, which is kept above the smallest power.
    const Real scale = eps * (std::abs(value) + std::abs(at * steep)) + least * (1 + std::abs(at));
    worst_value = std::max(worst_value, std::abs(Real(a.values[i]) - value) / scale);
    worst_slope = std::max(worst_slope, std::abs(Real(slope.values[i]) - steep) / (eps + least * std::abs(at)));
  }
  // gelu's exponent is a cubic: its error counts three times.
  EXPECT_LE(worst_value, 4.0L) << "in units of rounding";
  EXPECT_LE(worst_slope, 6.0L) << "in units of rounding at 1";
}

template <class T>
void CheckBounds(const Backend& backend, const Reference& reference) {
  SCOPED_TRACE(testing::Message() << reference.name << " " << DTypeName(DTypeOf<T>()));
  const Activation activation(reference.name);
  const std::vector<double> places = Places();
  const auto rows = std::ssize(places);
  Column<T> z(rows), a(rows), delta(rows), slope(rows);
  std::copy(places.begin(), places.end(), z.values.begin());
  std::fill(delta.values.begin(), delta.values.end(), T(1));
  T one = 1;
  const MatrixView weight{&one, 1, 1, 1, DTypeOf<T>()};
  const auto layer = backend.Prepare({{1, 1, Synapse::kDot, activation, false}, DTypeOf<T>(), rows, true});
  layer->Forward({z.view(), weight, nullptr, a.view(), {}, {}});
  InputGradientArgs back;
  back.delta = delta.view();
  back.weights = weight;
  back.x = a.view();
  back.previous = &activation;
  back.previous_z = z.view();
  back.out = slope.view();
  layer->InputGradient(back);
  ExpectBounds(reference, std::numeric_limits<T>::min(), z, a, slope);
  if (auto* const keeps = dynamic_cast<KeepsSlopes*>(layer.get()); keeps != nullptr && keeps->FindsSlopes()) {
    Column<T> a_beside(rows), kept(rows);
    keeps->ForwardKeeping({z.view(), weight, nullptr, a_beside.view()}, kept.view());
    ExpectBounds(reference, kLeastKept<T>, z, a_beside, kept);
  }
}

TEST(ActivationBounds, OfEveryInstructionSet) {
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const Chosen cpu({"cpu", "own", target, 1});
    for (const Reference& reference : kReferences) {
      CheckBounds<float>(cpu.get(), reference);
      CheckBounds<double>(cpu.get(), reference);
    }
  }
}

// Rows of softmax: some wide, some with answers that underflow.
template <class T>
void CheckSoftmax(const Backend& backend, int64_t outputs) {
  SCOPED_TRACE(testing::Message() << outputs << " outputs in " << DTypeName(DTypeOf<T>()));
  constexpr int64_t kRows = 50;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> even(-1, 1);
  Matrix x(kRows, outputs, DTypeOf<T>()), weights(outputs, outputs, DTypeOf<T>()), a(kRows, outputs, DTypeOf<T>());
  for (int64_t i = 0; i < outputs; ++i) {
    std::fill_n(weights.Row<T>(i), outputs, T(0));
    weights.Row<T>(i)[i] = 1;
  }
  for (int64_t i = 0; i < kRows; ++i) {
    std::generate_n(x.Row<T>(i), outputs, [&] { return static_cast<T>(even(random) * std::pow(10.0, i % 4 - 1)); });
  }
  const LayerSpec layer{outputs, outputs, Synapse::kDot, Activation("softmax"), false};
  backend.Prepare({layer, DTypeOf<T>(), kRows, false})->Forward({x.view(), weights.view(), nullptr, a.view(), {}, {}});
  for (int64_t i = 0; i < kRows; ++i) {
    const T* z = x.Row<T>(i);
    const Real most = *std::max_element(z, z + outputs);
    Real sum = 0;
    for (int64_t j = 0; j < outputs; ++j) {
      sum += std::exp(Real(z[j]) - most);
    }
    for (int64_t j = 0; j < outputs; ++j) {
      const Real expected = std::exp(Real(z[j]) - most) / sum;
      // z - most is rounded once: an error of its size in the answer.
      const Real unit = std::numeric_limits<T>::epsilon() * expected * (4 + std::abs(Real(z[j]) - most) / 2);
      EXPECT_NEAR(a.Row<T>(i)[j], expected, unit + std::numeric_limits<T>::min()) << "row " << i << ", output " << j;
    }
  }
}

TEST(ActivationBounds, SoftmaxOfEveryInstructionSet) {
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const Chosen cpu({"cpu", "own", target, 1});
    for (const int64_t outputs : {1, 2, 3, 7, 8, 9, 16, 17, 40}) {
      CheckSoftmax<float>(cpu.get(), outputs);
      CheckSoftmax<double>(cpu.get(), outputs);
    }
  }
}

TEST(ActivationBounds, WhatIsNoNumberStaysSo) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const Chosen cpu({"cpu", "own", target, 1});
    for (const Reference& reference : kReferences) {
      SCOPED_TRACE(reference.name);
      Column<float> z(1), a(1);
      z.values[0] = nan;
      float one = 1;
      const auto layer =
          cpu->Prepare({{1, 1, Synapse::kDot, Activation(reference.name), false}, DType::kF32, 1, false});
      layer->Forward({z.view(), {&one, 1, 1, 1, DType::kF32}, nullptr, a.view(), {}, {}});
      EXPECT_TRUE(std::isnan(a.values[0]));
    }
  }
}

}  // namespace
}  // namespace lamina::conformance
