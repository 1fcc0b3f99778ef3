// Every backend, instruction set and thread count against the oracle: forward and gradients of a dot layer.
#include <cstring>
#include <set>

#include "tests/conformance/configurations.h"

namespace lamina::conformance {
namespace {

class LayerConformance : public testing::TestWithParam<Configuration> {
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

template <class T>
LayerPlanRequest Request(const Shape& shape, const Activation& activation, bool bias) {
  return {{shape.inputs, shape.outputs, Synapse::kDot, activation, bias}, DTypeOf<T>(), shape.batch, true};
}

struct ForwardCase {
  Shape shape;
  Activation activation;
  Dense x, w, bias;  // bias empty: none
  int64_t pad = 0;
  bool keep_z = false;
};

template <class T>
void CheckForward(const Chosen& backend, const ForwardCase& c, bool exact) {
  SCOPED_TRACE(testing::Message() << DTypeName(DTypeOf<T>()) << " " << c.activation.Text() << " " << c.shape.batch
                                  << "x" << c.shape.outputs << "x" << c.shape.inputs << " pad " << c.pad);
  Guarded<T> x(c.x, c.pad), w(c.w, c.pad), a(c.shape.batch, c.shape.outputs, c.pad), z = a;
  Guarded<T> bias(c.bias, 0);
  const auto layer = backend->Prepare(Request<T>(c.shape, c.activation, c.bias.cols > 0));
  layer->Forward(
      {x.view(), w.view(), c.bias.cols > 0 ? bias.data() : nullptr, a.view(), c.keep_z ? z.view() : MatrixView{}});

  const oracle::Sums sums = oracle::Forward(c.x, c.w, c.bias);
  const Dense z_bounds = SumBounds(1, c.shape.inputs, kEps<T>, sums.magnitude);
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
      bounds.values[i] = curve.Steepness() * z_bounds.values[i] + 8 * kEps<T> * std::max(1.0, std::abs(at));
    }
  }
  EXPECT_TRUE(MatchesOracle<T>(a.view(), want, exact ? nullptr : &bounds));
  if (c.keep_z) {
    EXPECT_TRUE(MatchesOracle<T>(z.view(), sums.value, exact ? nullptr : &z_bounds));
  }
  EXPECT_TRUE(a.GuardsIntact() && z.GuardsIntact());
}

ForwardCase CaseOf(const Shape& shape, const Activation& activation, bool integers, bool bias) {
  const auto fill = integers ? &Integers : &Reals;
  return {shape, activation, fill(shape.batch, shape.inputs, 1), fill(shape.outputs, shape.inputs, 2),
          bias ? fill(1, shape.outputs, 3) : Dense()};
}

TEST_P(LayerConformance, ForwardIsExactOnIntegers) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    int n = 0;
    for (const auto& shapes : {AwkwardShapes(), LargeShapes()}) {
      for (const Shape& shape : shapes) {
        ++n;
        ForwardCase c = CaseOf(shape, n % 2 == 0 ? "identity" : "relu", true, n % 3 != 0);
        c.pad = n % 4;
        c.keep_z = n % 5 < 2;
        CheckForward<T>(backend, c, true);
      }
    }
  });
}

TEST_P(LayerConformance, ForwardOfEveryActivation) {
  const Chosen backend(GetParam());
  std::vector<Activation> activations = ElementwiseActivations();
  activations.emplace_back("softmax");
  ForTypes([&]<class T>(T) {
    for (const Activation& activation : activations) {
      for (const Shape& shape : {Shape{1, 10, 17}, {3, 33, 20}, {25, 31, 65}, {50, 10, 33}, {33, 97, 130}}) {
        for (const bool keep_z : {false, true}) {
          ForwardCase c = CaseOf(shape, activation, false, shape.batch != 25);
          c.pad = keep_z ? 3 : 0;
          c.keep_z = keep_z;
          CheckForward<T>(backend, c, false);
        }
      }
    }
  });
}

template <class T>
void CheckInputGradient(const Chosen& backend, const Shape& shape, const Activation* previous, bool integers,
                        int64_t pad) {
  SCOPED_TRACE(testing::Message() << DTypeName(DTypeOf<T>()) << " " << (previous ? previous->Text() : "none") << " "
                                  << shape.batch << "x" << shape.outputs << "x" << shape.inputs << " pad " << pad);
  const auto fill = integers ? &Integers : &Reals;
  const Dense delta = fill(shape.batch, shape.outputs, 4);
  const Dense w = fill(shape.outputs, shape.inputs, 5);
  const Dense z = Reals(shape.batch, shape.inputs, 6);
  Dense a = z;
  const oracle::Curve curve = previous == nullptr ? oracle::Curve{"identity", {}} : CurveOf(*previous);
  for (double& value : a.values) {
    value = curve.Value(value);
  }
  Guarded<T> delta_t(delta, pad), w_t(w, pad), z_t(z, pad), a_t(a, pad), out(shape.batch, shape.inputs, pad);
  const bool needs_z = previous != nullptr && previous->slope_needs_input();
  const auto layer = backend->Prepare(Request<T>(shape, "identity", true));
  layer->InputGradient({delta_t.view(), w_t.view(), a_t.view(), previous,
                        needs_z ? ConstMatrixView(z_t.view()) : ConstMatrixView{}, out.view()});
  const oracle::Sums sums = oracle::InputGradient(delta, w);
  Dense want = sums.value;
  Dense bounds = SumBounds(1, shape.outputs + 8, kEps<T>, sums.magnitude);
  for (size_t i = 0; i < want.values.size(); ++i) {
    want.values[i] *= curve.Slope(z.values[i]);
    bounds.values[i] *= std::max(1.0, curve.Steepness());
  }
  EXPECT_TRUE(MatchesOracle<T>(out.view(), want, integers ? nullptr : &bounds));
  EXPECT_TRUE(out.GuardsIntact());
}

TEST_P(LayerConformance, InputGradientIsExactOnIntegers) {
  const Chosen backend(GetParam());
  const Activation relu("relu");
  ForTypes([&]<class T>(T) {
    int64_t n = 0;
    for (const auto& shapes : {AwkwardShapes(), LargeShapes()}) {
      for (const Shape& shape : shapes) {
        ++n;
        CheckInputGradient<T>(backend, shape, n % 2 == 0 ? &relu : nullptr, true, n % 4);
        CheckInputGradient<T>(backend, {shape.batch, shape.inputs, shape.outputs}, nullptr, true, n % 3);
      }
    }
  });
}

TEST_P(LayerConformance, InputGradientOfEverySlope) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    for (const Activation& previous : ElementwiseActivations()) {
      for (const Shape& shape : {Shape{1, 3, 17}, {9, 20, 33}, {40, 30, 65}, {65, 10, 131}}) {
        CheckInputGradient<T>(backend, shape, &previous, false, shape.batch % 2);
      }
    }
  });
}

template <class T>
void CheckWeightGradient(const Chosen& backend, const Shape& shape, bool bias, bool integers, int64_t pad) {
  SCOPED_TRACE(testing::Message() << DTypeName(DTypeOf<T>()) << " " << shape.batch << "x" << shape.outputs << "x"
                                  << shape.inputs << " pad " << pad);
  const auto fill = integers ? &Integers : &Reals;
  const Dense x = fill(shape.batch, shape.inputs, 7);
  const Dense delta = fill(shape.batch, shape.outputs, 8);
  Guarded<T> x_t(x, pad), delta_t(delta, pad), w(shape.outputs, shape.inputs, 0), g = w;
  Guarded<T> b(1, shape.outputs, 0), b_g = b;
  const auto layer = backend->Prepare(Request<T>(shape, "identity", bias));
  WeightGradientArgs args{x_t.view(), delta_t.view(), {w.data(), g.data()}, {}, nullptr};
  if (bias) {
    args.bias = {b.data(), b_g.data()};
  }
  layer->WeightGradient(args);
  const oracle::Sums sums = oracle::WeightGradient(x, delta);
  const Dense bounds = SumBounds(1, shape.batch, kEps<T>, sums.magnitude);
  EXPECT_TRUE(MatchesOracle<T>(g.view(), sums.value, integers ? nullptr : &bounds));
  if (bias) {
    const oracle::Sums bias_sums = oracle::BiasGradient(delta);
    Dense row(1, shape.outputs);
    row.values = bias_sums.value.values;
    Dense row_bounds = row;
    row_bounds.values = SumBounds(1, shape.batch, kEps<T>, bias_sums.magnitude).values;
    EXPECT_TRUE(MatchesOracle<T>(b_g.view(), row, integers ? nullptr : &row_bounds));
  }
  EXPECT_TRUE(g.GuardsIntact() && b_g.GuardsIntact() && w.GuardsIntact());
}

TEST_P(LayerConformance, WeightGradientIsExactOnIntegers) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    int64_t n = 0;
    for (const auto& shapes : {AwkwardShapes(), LargeShapes()}) {
      for (const Shape& shape : shapes) {
        ++n;
        CheckWeightGradient<T>(backend, shape, n % 3 != 0, true, n % 4);
      }
    }
  });
}

TEST_P(LayerConformance, WeightGradientOfReals) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    for (const Shape& shape : {Shape{1, 17, 33}, {16, 40, 100}, {130, 10, 65}, {1500, 20, 50}}) {
      CheckWeightGradient<T>(backend, shape, true, false, 1);
    }
  });
}

// The last minibatch of an epoch is smaller than the one prepared for.
TEST_P(LayerConformance, SmallerBatchThanPrepared) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    const Shape full{100, 60, 70};
    const auto layer = backend->Prepare(Request<T>(full, "identity", false));
    for (const int64_t batch : {100, 99, 37, 16, 5, 1}) {
      const Dense x = Integers(batch, full.inputs, 9);
      const Dense w = Integers(full.outputs, full.inputs, 10);
      Guarded<T> x_t(x, 0), w_t(w, 0), a(batch, full.outputs, 0), g(full.outputs, full.inputs, 0);
      layer->Forward({x_t.view(), w_t.view(), nullptr, a.view(), {}});
      EXPECT_TRUE(MatchesOracle<T>(a.view(), oracle::Forward(x, w, {}).value)) << batch;
      layer->WeightGradient({x_t.view(), a.view(), {w_t.data(), g.data()}, {}, nullptr});
      EXPECT_TRUE(MatchesOracle<T>(g.view(), oracle::WeightGradient(x, oracle::Forward(x, w, {}).value).value))
          << batch;
    }
  });
}

TEST_P(LayerConformance, SameThreadsSameBits) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    const Shape shape{130, 120, 333};
    Guarded<T> x(Reals(shape.batch, shape.inputs, 11), 0), w(Reals(shape.outputs, shape.inputs, 12), 0);
    Guarded<T> a(shape.batch, shape.outputs, 0), g(shape.outputs, shape.inputs, 0), dx(shape.batch, shape.inputs, 0);
    std::vector<std::vector<T>> first;
    for (int run = 0; run < 3; ++run) {
      const auto layer = backend->Prepare(Request<T>(shape, "tanh", false));
      layer->Forward({x.view(), w.view(), nullptr, a.view(), {}});
      layer->WeightGradient({x.view(), a.view(), {w.data(), g.data()}, {}, nullptr});
      layer->InputGradient({a.view(), w.view(), x.view(), nullptr, {}, dx.view()});
      const std::vector<std::vector<T>> now{a.bytes(), g.bytes(), dx.bytes()};
      first = run == 0 ? now : first;
      for (size_t i = 0; i < now.size(); ++i) {
        EXPECT_EQ(std::memcmp(now[i].data(), first[i].data(), now[i].size() * sizeof(T)), 0) << "result " << i;
      }
    }
  });
}

// A NaN or an infinity in one sample must reach that sample's outputs, as the formula says, and no other
// sample.
TEST_P(LayerConformance, NonFiniteInputsPropagate) {
  const Chosen backend(GetParam());
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double specials[] = {std::nan(""), kInf, -kInf};
  std::vector<Activation> activations = ElementwiseActivations();
  activations.pop_back();  // softsign of infinity is a NaN by its own formula
  ForTypes([&]<class T>(T) {
    for (const Activation& activation : activations) {
      for (const Shape& shape : {Shape{5, 9, 19}, {53, 29, 19}}) {
        Dense x = Reals(shape.batch, shape.inputs, 13);
        Dense w = Reals(shape.outputs, shape.inputs, 14);
        for (double& value : w.values) {
          value = std::abs(value) + 0.01;
        }
        for (int64_t s = 0; s < 3; ++s) {
          x.at(s, 7 + s) = specials[s];
        }
        Guarded<T> x_t(x, 0), w_t(w, 0), a(shape.batch, shape.outputs, 0);
        const auto layer = backend->Prepare(Request<T>(shape, activation, false));
        layer->Forward({x_t.view(), w_t.view(), nullptr, a.view(), {}});
        const auto scalar = [&](double z) {
          T value = static_cast<T>(z);
          activation.Value(&value, &value, 1);
          return value;
        };
        for (int64_t j = 0; j < shape.outputs; ++j) {
          for (int64_t s = 0; s < 3; ++s) {
            const T got = a.view().template Row<T>(s)[j];
            EXPECT_TRUE(Matches(got, scalar(specials[s]), 4 * kEps<T>))
                << activation.Text() << "(" << specials[s] << ") is " << got;
          }
          EXPECT_TRUE(std::isfinite(a.view().template Row<T>(3)[j])) << activation.Text();
        }
      }
    }
  });
}

// Values far out, tiny and denormal: one input, weight 1, so that z is x.
TEST_P(LayerConformance, ActivationsOverTheirWholeRange) {
  const Chosen backend(GetParam());
  std::vector<double> points{0, 1e-310, -1e-40, 1e-30, -1e-20, 1e-8, 1e-4, -1e-4};
  for (double z = 1e-3; z < 3e3; z *= 1.07) {
    points.push_back(z);
    points.push_back(-z);
  }
  const auto count = static_cast<int64_t>(points.size());
  ForTypes([&]<class T>(T) {
    Dense x(count, 1);
    for (int64_t i = 0; i < count; ++i) {
      x.at(i, 0) = static_cast<T>(points[static_cast<size_t>(i)]);
    }
    for (const Activation& activation : ElementwiseActivations()) {
      Guarded<T> x_t(x, 0), w(Dense(1, 1, 1.0), 0), a(count, 1, 0);
      const auto layer = backend->Prepare(Request<T>({count, 1, 1}, activation, false));
      layer->Forward({x_t.view(), w.view(), nullptr, a.view(), {}});
      Dense want = x;
      Dense bounds = x;
      for (size_t i = 0; i < want.values.size(); ++i) {
        const double z = x.values[i];
        want.values[i] = CurveOf(activation).Value(z);
        // Relative 8 eps; sigmoid and gelu lose the relative, not the absolute accuracy where they vanish.
        bounds.values[i] = 8 * kEps<T> * std::abs(want.values[i]) + std::numeric_limits<T>::min();
        if (activation.name() == "bipolar_sigmoid" || (activation.name() == "gelu" && z < 0)) {
          bounds.values[i] += 4 * kEps<T> * std::max(1.0, std::abs(z));
        } else if (activation.name() == "sigmoid" && z < 0) {
          bounds.values[i] += 2 * kEps<T> * std::abs(z) * want.values[i];
        }
      }
      EXPECT_TRUE(MatchesOracle<T>(a.view(), want, &bounds)) << activation.Text() << " " << DTypeName(DTypeOf<T>());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, LayerConformance, testing::ValuesIn(AllConfigurations()),
                         [](const auto& info) { return info.param.Name(); });

// A silent fallback would make the suite above test one instruction set several times.
TEST(Targets, EveryCompiledAndSupportedTargetIsRun) {
  std::string ran;
  ASSERT_FALSE(CpuTargets().empty());
  for (const std::string& target : CpuTargets()) {
    ASSERT_NE(TargetBit(target), 0) << target;
    const Chosen backend({"cpu", "own", target, 1});
    const std::string description =
        backend->Prepare({{8, 8, Synapse::kDot, "tanh", true}, DType::kF32, 4, false})->Describe();
    EXPECT_NE(description.find(target + ","), std::string::npos) << description;
    ran += target + " ";
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    EXPECT_NE(ran.find("AVX3 "), std::string::npos);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_NE(ran.find("AVX2 "), std::string::npos);
  }
#endif
  std::set<std::string> backends;
  for (const Configuration& configuration : AllConfigurations()) {
    backends.insert(configuration.backend + (configuration.kernel == "onednn" ? " (onednn)" : ""));
  }
  std::string names;
  for (const std::string& name : backends) {
    names += name + " ";
  }
  std::printf("[ RAN      ] targets: %s| backends: %s\n", ran.c_str(), names.c_str());
}

}  // namespace
}  // namespace lamina::conformance
