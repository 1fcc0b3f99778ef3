// Every backend, instruction set and thread count against the oracle: forward and gradients of a dot layer.
#include <cstring>
#include <set>

#include "lamina/backend/cpu/instruction_sets.h"
#include "tests/conformance/layer_checks.h"

namespace lamina::conformance {
namespace {

constexpr Synapse kDot = Synapse::kDot;

class LayerConformance : public ConfigurationTest {};

TEST_P(LayerConformance, ForwardIsExactOnIntegers) {
  const Chosen backend(GetParam());
  OneIn some(1, GetParam());
  ForTypes([&]<class T>(T) {
    int n = 0;
    for (const Shape& shape : some.Of(AwkwardAndLargeShapes())) {
      ++n;
      ForwardCase c = CaseOf(kDot, shape, n % 2 == 0 ? "identity" : "relu", true, n % 3 != 0);
      c.pad = n % 4;
      c.keep_z = n % 5 < 2;
      CheckForward<T>(backend, c, true);
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
          ForwardCase c = CaseOf(kDot, shape, activation, false, shape.batch != 25);
          c.pad = keep_z ? 3 : 0;
          c.keep_z = keep_z;
          CheckForward<T>(backend, c, false);
        }
      }
    }
  });
}

TEST_P(LayerConformance, InputGradientIsExactOnIntegers) {
  const Chosen backend(GetParam());
  const Activation relu("relu");
  OneIn some(1, GetParam());
  ForTypes([&]<class T>(T) {
    int64_t n = 0;
    for (const Shape& shape : some.Of(AwkwardAndLargeShapes())) {
      ++n;
      CheckInputGradient<T>(backend, {kDot, shape, n % 2 == 0 ? &relu : nullptr, true, n % 4});
      CheckInputGradient<T>(backend, {kDot, {shape.batch, shape.inputs, shape.outputs}, nullptr, true, n % 3});
    }
  });
}

TEST_P(LayerConformance, InputGradientOfEverySlope) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    for (const Activation& previous : ElementwiseActivations()) {
      for (const Shape& shape : {Shape{1, 3, 17}, {9, 20, 33}, {40, 30, 65}, {65, 10, 131}}) {
        CheckInputGradient<T>(backend, {kDot, shape, &previous, false, shape.batch % 2});
      }
    }
  });
}

TEST_P(LayerConformance, WeightGradientIsExactOnIntegers) {
  const Chosen backend(GetParam());
  OneIn some(1, GetParam());
  ForTypes([&]<class T>(T) {
    int64_t n = 0;
    for (const Shape& shape : some.Of(AwkwardAndLargeShapes())) {
      ++n;
      CheckWeightGradient<T>(backend, {kDot, shape, nullptr, true, n % 4, n % 3 != 0});
    }
  });
}

TEST_P(LayerConformance, WeightGradientOfReals) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    for (const Shape& shape : {Shape{1, 17, 33}, {16, 40, 100}, {130, 10, 65}, {1500, 20, 50}}) {
      CheckWeightGradient<T>(backend, {kDot, shape, nullptr, false, 1, true});
    }
  });
}

// The last minibatch of an epoch is smaller than the one prepared for.
TEST_P(LayerConformance, SmallerBatchThanPrepared) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    const Shape full{100, 60, 70};
    const auto layer = backend->Prepare(Request<T>(kDot, full, "identity", false));
    for (const int64_t batch : {100, 99, 37, 16, 5, 1}) {
      const Dense x = Integers(batch, full.inputs, 9);
      const Dense w = Integers(full.outputs, full.inputs, 10);
      Guarded<T> x_t(x, 0), w_t(w, 0), a(batch, full.outputs, 0), g(full.outputs, full.inputs, 0);
      layer->Forward({x_t.view(), w_t.view(), nullptr, a.view(), {}});
      EXPECT_TRUE(MatchesOracle<T>(a.view(), oracle::Forward({}, x, w, {}).value)) << batch;
      layer->WeightGradient({x_t.view(), a.view(), {w_t.data(), g.data()}, {}, nullptr});
      EXPECT_TRUE(MatchesOracle<T>(g.view(), oracle::DotWeightGradient(x, oracle::Forward({}, x, w, {}).value).value))
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
      const auto layer = backend->Prepare(Request<T>(kDot, shape, "tanh", false));
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
        const auto layer = backend->Prepare(Request<T>(kDot, shape, activation, false));
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
      const auto layer = backend->Prepare(Request<T>(kDot, {count, 1, 1}, activation, false));
      layer->Forward({x_t.view(), w.view(), nullptr, a.view(), {}});
      Dense want = x;
      Dense bounds = x;
      for (size_t i = 0; i < want.values.size(); ++i) {
        const double z = x.values[i];
        want.values[i] = CurveOf(activation).Value(z);
        // Relative 8 eps; sigmoid and gelu lose the relative, not the absolute accuracy where they vanish.
        bounds.values[i] = 8 * kEps<T> * std::abs(want.values[i]) + std::numeric_limits<T>::min();
        if (activation.name() == "triangle") {
          bounds.values[i] += 2 * kEps<T> * std::max(1.0, std::abs(z));
        } else if (activation.name() == "gaussian") {
          const double u = z / activation.parameters()[0];
          bounds.values[i] += 2 * kEps<T> * u * u * want.values[i];
        } else if (activation.name() == "laplace") {  // what is off in the power is off in the exponent
          const double u = std::abs(z) / activation.parameters()[0];
          bounds.values[i] += 4 * kEps<T> * std::pow(u, activation.parameters()[1]) * want.values[i];
        } else if (activation.name() == "bipolar_sigmoid" || (activation.name() == "gelu" && z < 0)) {
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

// Sums of more terms than are computed in one go, of few rows: every thread packs panels of its own, part after part.
class PanelConformance : public ConfigurationTest {
 protected:
  static constexpr Shape kForward{20, 300, 1030};
  static constexpr Shape kBack{20, 1030, 300};
};

TEST_P(PanelConformance, LongSumsAreExactOnIntegers) {
  const Chosen backend(GetParam());
  ForTypes([&]<class T>(T) {
    for (const Synapse synapse : {kDot, Synapse::kL1}) {
      CheckForward<T>(backend, CaseOf(synapse, kForward, "identity", true, true), true);
      CheckInputGradient<T>(backend, {synapse, kBack, nullptr, true, 1});
    }
  });
}

TEST_P(PanelConformance, AnyThreadsSameBits) {
  ForTypes([&]<class T>(T) {
    const Dense x = Reals(kForward.batch, kForward.inputs, 15);
    const Dense w = Reals(kForward.outputs, kForward.inputs, 16);
    const Dense delta = Reals(kBack.batch, kBack.outputs, 17);
    const Dense w_back = Reals(kBack.outputs, kBack.inputs, 18);
    Guarded<T> x_t(x, 0), w_t(w, 0), delta_t(delta, 0), back_t(w_back, 0), none(kBack.batch, kBack.inputs, 0);
    std::vector<std::vector<T>> first;
    for (const int threads : {GetParam().threads, 2, 5}) {
      Configuration configuration = GetParam();
      configuration.threads = threads;
      const Chosen backend(configuration);
      Guarded<T> a(kForward.batch, kForward.outputs, 0), dx(kBack.batch, kBack.inputs, 0);
      backend->Prepare(Request<T>(kDot, kForward, "tanh", false))
          ->Forward({x_t.view(), w_t.view(), nullptr, a.view(), {}});
      backend->Prepare(Request<T>(kDot, kBack, "tanh", false))
          ->InputGradient({delta_t.view(), back_t.view(), none.view(), nullptr, {}, dx.view()});
      const std::vector<std::vector<T>> now{a.bytes(), dx.bytes()};
      first = first.empty() ? now : first;
      for (size_t i = 0; i < now.size(); ++i) {
        EXPECT_EQ(std::memcmp(now[i].data(), first[i].data(), now[i].size() * sizeof(T)), 0)
            << (i == 0 ? "forward" : "input gradient") << ", " << threads << " threads";
      }
    }
  });
}

// More results than operands. Rows that stay in the cache meet a few panels at a time, and few outputs stand side by
// side where sums are short.
TEST_P(PanelConformance, ShortSumsAreExactOnIntegers) {
  ForTypes([&]<class T>(T) {
    for (const Shape& shape : {Shape{371, 700, 9}, {300, 531, 33}, {40, 900, 20}, {536, 23, 9}, {115, 16, 132}}) {
      for (const Synapse synapse : {kDot, Synapse::kL1}) {
        CheckForward<T>(Chosen(GetParam()), CaseOf(synapse, shape, "identity", true, true), true);
        CheckInputGradient<T>(Chosen(GetParam()),
                              {synapse, {shape.batch, shape.inputs, shape.outputs}, nullptr, true, 1});
      }
    }
  });
}

// Weights beyond half of a second-level cache of 2 MiB: few samples have no memory to pack them all.
TEST_P(PanelConformance, FewSamplesPackPanelByPanel) {
  for (const Synapse synapse : {kDot, Synapse::kL1}) {
    CheckForward<float>(Chosen(GetParam()), CaseOf(synapse, {100, 5000, 60}, "identity", true, true), true);
  }
}

// Weights beyond half of a second-level cache of 2 MiB, whose next rows are asked for. Tiles are whole or ragged, and
// rows may lie apart.
TEST_P(PanelConformance, WeightsBeyondTheCache) {
  ForTypes([&]<class T>(T) {
    const int64_t outputs = sizeof(T) == sizeof(float) ? 531 : 267;
    for (const int64_t batch : {12, 16, 31, 48, 70}) {
      for (const int64_t pad : {0, 1}) {
        ForwardCase c = CaseOf(kDot, {batch, outputs, 500}, "identity", true, true);
        c.pad = pad;
        CheckForward<T>(Chosen(GetParam()), c, true);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, PanelConformance, testing::ValuesIn(OwnConfigurations()),
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
  const cpu::InstructionLevel* level = cpu::ApplyInstructionSets().level;
  const auto allowed = [&](const char* target) {
    const int64_t compiled = HWY_TARGETS;  // one with LAMINA_ONE_TARGET
    return (compiled & TargetBit(target)) != 0 &&
           (level == nullptr || (level->allowed.targets & TargetBit(target)) != 0);
  };
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    EXPECT_EQ(ran.find("AVX3 ") != std::string::npos, allowed("AVX3"));
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_EQ(ran.find("AVX2 ") != std::string::npos, allowed("AVX2"));
  }
#endif
  std::set<std::string> backends;
  for (const Configuration& configuration : AllConfigurations()) {
    backends.insert(configuration.backend);
  }
  std::string names;
  for (const std::string& name : backends) {
    names += name + " ";
  }
  std::printf("[ RAN      ] targets: %s| backends: %s\n", ran.c_str(), names.c_str());
}

}  // namespace
}  // namespace lamina::conformance
