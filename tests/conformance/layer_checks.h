// One pass of one layer on one configuration against the oracle; the bodies of the conformance suites.
#pragma once

#include <functional>
#include <sstream>

#include "tests/conformance/configurations.h"

namespace lamina::conformance {

class ConfigurationTest : public testing::TestWithParam<Configuration> {
 protected:
  // Runs body(T{}) for f32 and f64 where the configuration computes in them.
  template <class Body>
  void ForTypes(const Body& body) const {
    if (GetParam().Supports(DType::kF32)) {
      body(float{});
    }
    if (GetParam().Supports(DType::kF64)) {
      body(double{});
    }
  }
};

template <class T>
constexpr double kEps = std::numeric_limits<T>::epsilon();

/// Every element rounded to T: a square root in T is the rounded one in double.
template <class T>
Dense Rounded(Dense m) {
  for (double& value : m.values) {
    value = static_cast<double>(static_cast<T>(value));
  }
  return m;
}

template <class T>
LayerPlanRequest Request(Synapse synapse, const Shape& shape, const Activation& activation, bool bias) {
  return {{shape.inputs, shape.outputs, synapse, activation, bias}, DTypeOf<T>(), shape.batch, true};
}

struct ForwardCase {
  Synapse synapse = Synapse::kDot;
  Shape shape;
  Activation activation;
  Dense x, w, bias;  // bias empty: none
  int64_t pad = 0;
  bool keep_z = false;  // and the distance
};

template <class T>
void CheckForward(const Chosen& backend, const ForwardCase& c, bool exact) {
  SCOPED_TRACE(testing::Message() << DTypeName(DTypeOf<T>()) << " " << SynapseName(c.synapse) << "-"
                                  << c.activation.Text() << " " << c.shape.batch << "x" << c.shape.outputs << "x"
                                  << c.shape.inputs << " pad " << c.pad);
  Guarded<T> x(c.x, c.pad), w(c.w, c.pad), a(c.shape.batch, c.shape.outputs, c.pad), z = a, distance = a;
  Guarded<T> bias(c.bias, 0);
  const auto layer = backend->Prepare(Request<T>(c.synapse, c.shape, c.activation, c.bias.cols > 0));
  layer->Forward({x.view(), w.view(), c.bias.cols > 0 ? bias.data() : nullptr, a.view(),
                  c.keep_z ? z.view() : MatrixView{},
                  c.keep_z && IsDistance(c.synapse) ? distance.view() : MatrixView{}});

  const oracle::Synapse synapse(SynapseName(c.synapse));
  const oracle::Sums sums = oracle::Forward(synapse, c.x, c.w, c.bias);
  // The terms of a distance are rounded up to three times.
  const Dense z_bounds = SumBounds(1, c.shape.inputs + (IsDistance(c.synapse) ? 3 : 0), kEps<T>, sums.magnitude);
  Dense want = sums.value;
  Dense bounds = z_bounds;
  if (c.activation.is_softmax()) {
    want = oracle::Softmax(sums.value);
    double worst = 0;
    for (const double bound : z_bounds.values) {
      worst = std::max(worst, bound);
    }
    for (size_t i = 0; i < want.values.size(); ++i) {
      bounds.values[i] = want.values[i] * (2.1 * worst + 16 * kEps<T>)+std::numeric_limits<T>::min();
    }
  } else {
    const oracle::Curve curve = CurveOf(c.activation);
    for (size_t i = 0; i < want.values.size(); ++i) {
      const double at = sums.value.values[i];
      want.values[i] = curve.Value(at);
      // 1 + e^-z and the like round at the scale of 1, gelu's factors at the scale of z.
      bounds.values[i] = curve.Steepness(at) * z_bounds.values[i] +
                         8 * kEps<T> * std::max({1.0, std::abs(at), std::abs(want.values[i])});
    }
  }
  EXPECT_TRUE(MatchesOracle<T>(a.view(), Rounded<T>(want), exact ? nullptr : &bounds));
  if (c.keep_z) {
    EXPECT_TRUE(MatchesOracle<T>(z.view(), Rounded<T>(sums.value), exact ? nullptr : &z_bounds));
  }
  if (c.keep_z && IsDistance(c.synapse)) {
    const Dense plain = c.bias.values.empty() ? sums.value : oracle::Forward(synapse, c.x, c.w, {}).value;
    EXPECT_TRUE(MatchesOracle<T>(distance.view(), Rounded<T>(plain), exact ? nullptr : &z_bounds));
  }
  EXPECT_TRUE(a.GuardsIntact() && z.GuardsIntact() && distance.GuardsIntact());
}

inline ForwardCase CaseOf(Synapse synapse, const Shape& shape, const Activation& activation, bool integers, bool bias) {
  const auto fill = integers ? &Integers : &Reals;
  return {synapse,
          shape,
          activation,
          fill(shape.batch, shape.inputs, 1),
          fill(shape.outputs, shape.inputs, 2),
          bias ? fill(1, shape.outputs, 3) : Dense()};
}

struct BackwardCase {
  Synapse synapse = Synapse::kDot;
  Shape shape;
  const Activation* previous = nullptr;  // input gradient: of the layer before
  bool integers = false;
  int64_t pad = 0;
  bool bias = true;                                         // weight gradient
  double offset = 0;                                        // added to x and w
  std::function<void(Dense* x, Dense* w)> spoil = nullptr;  // plants values

  std::string Text() const {
    std::ostringstream text;
    text << SynapseName(synapse) << (previous ? " " + previous->Text() : "") << " " << shape.batch << "x"
         << shape.outputs << "x" << shape.inputs << " pad " << pad;
    return text.str();
  }
};

/// Operands of a backward pass. With integers the distances are 0 or powers of 2, so that l2 is exact as well.
template <class T>
oracle::BackwardInput InputOf(const BackwardCase& c) {
  const auto fill = c.integers ? &Integers : &Reals;
  oracle::BackwardInput in{fill(c.shape.batch, c.shape.outputs, 4),
                           fill(c.shape.batch, c.shape.inputs, 5),
                           fill(c.shape.outputs, c.shape.inputs, 6),
                           {}};
  in.distance = c.integers || c.synapse == Synapse::kDot  // which reads none
                    ? Dense(c.shape.batch, c.shape.outputs)
                    : oracle::Forward(SynapseName(c.synapse), in.x, in.w, {}).value;
  for (size_t i = 0; i < in.distance.values.size(); ++i) {
    constexpr double kPowers[] = {0, 1, 2, 4, 0.5};
    double& d = in.distance.values[i];
    d = c.integers ? kPowers[i % 5] : static_cast<double>(static_cast<T>(d));
  }
  for (Dense* m : {&in.x, &in.w}) {
    for (double& value : m->values) {
      value += c.offset;
    }
  }
  if (c.spoil) {
    c.spoil(&in.x, &in.w);
  }
  return in;
}

template <class T>
void CheckInputGradient(const Chosen& backend, const BackwardCase& c) {
  SCOPED_TRACE(testing::Message() << DTypeName(DTypeOf<T>()) << " " << c.Text());
  oracle::BackwardInput in = InputOf<T>(c);
  const oracle::Curve curve = c.previous == nullptr ? oracle::Curve{"identity", {}} : CurveOf(*c.previous);
  const Dense z = in.x;  // of the layer before
  for (size_t i = 0; i < z.values.size(); ++i) {
    in.x.values[i] = static_cast<double>(static_cast<T>(curve.Value(z.values[i])));
  }
  Guarded<T> delta(in.delta, c.pad), w(in.w, c.pad), z_t(z, c.pad), x(in.x, c.pad), distance(in.distance, c.pad);
  Guarded<T> out(c.shape.batch, c.shape.inputs, c.pad);
  const bool needs_z = c.previous != nullptr && c.previous->slope_needs_input();
  const auto layer = backend->Prepare(Request<T>(c.synapse, c.shape, "identity", true));
  layer->InputGradient({delta.view(), w.view(), x.view(), c.previous,
                        needs_z ? ConstMatrixView(z_t.view()) : ConstMatrixView{}, out.view(),
                        SynapseNeedsDistance(c.synapse) ? ConstMatrixView(distance.view()) : ConstMatrixView{}});
  const oracle::Sums sums = oracle::InputGradient(SynapseName(c.synapse), in);
  Dense want = sums.value;
  Dense bounds = SumBounds(1, c.shape.outputs + 8, kEps<T>, sums.magnitude);
  for (size_t i = 0; i < want.values.size(); ++i) {
    want.values[i] *= curve.Slope(z.values[i]);
    bounds.values[i] *= std::max(1.0, curve.Steepness(z.values[i]));
  }
  EXPECT_TRUE(MatchesOracle<T>(out.view(), want, c.integers ? nullptr : &bounds));
  EXPECT_TRUE(out.GuardsIntact());
}

template <class T>
void CheckWeightGradient(const Chosen& backend, const BackwardCase& c) {
  SCOPED_TRACE(testing::Message() << DTypeName(DTypeOf<T>()) << " " << c.Text());
  const oracle::BackwardInput in = InputOf<T>(c);
  Guarded<T> x(in.x, c.pad), delta(in.delta, c.pad), distance(in.distance, c.pad);
  Guarded<T> w(in.w, 0), g(c.shape.outputs, c.shape.inputs, 0), b(1, c.shape.outputs, 0), b_g = b;
  const auto layer = backend->Prepare(Request<T>(c.synapse, c.shape, "identity", c.bias));
  WeightGradientArgs args{x.view(), delta.view(), {w.data(), g.data()}, {}, nullptr, {}};
  if (SynapseNeedsDistance(c.synapse)) {
    args.distance = distance.view();
  }
  if (c.bias) {
    args.bias = {b.data(), b_g.data()};
  }
  layer->WeightGradient(args);
  const oracle::Sums sums = oracle::WeightGradient(SynapseName(c.synapse), in);
  const Dense bounds = SumBounds(1, c.shape.batch + (IsDistance(c.synapse) ? 3 : 0), kEps<T>, sums.magnitude);
  EXPECT_TRUE(MatchesOracle<T>(g.view(), sums.value, c.integers ? nullptr : &bounds));
  EXPECT_TRUE(MatchesOracle<T>(w.view(), in.w)) << "the weights are only read";
  if (c.bias) {
    const oracle::Sums bias_sums = oracle::BiasGradient(in.delta);
    Dense row(1, c.shape.outputs);
    row.values = bias_sums.value.values;
    Dense row_bounds = row;
    row_bounds.values = SumBounds(1, c.shape.batch, kEps<T>, bias_sums.magnitude).values;
    EXPECT_TRUE(MatchesOracle<T>(b_g.view(), row, c.integers ? nullptr : &row_bounds));
  }
  EXPECT_TRUE(g.GuardsIntact() && b_g.GuardsIntact() && w.GuardsIntact());
}

}  // namespace lamina::conformance
