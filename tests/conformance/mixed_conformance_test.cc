// Products of bf16 operands (Precision::kBFloat16) against the oracle on operands that the test rounds itself.
#include "lamina/backend/cpu/instruction_sets.h"
#include "tests/conformance/configurations.h"

namespace lamina::conformance {
namespace {

LayerPlanRequest MixedRequest(const Shape& shape, const Activation& activation = "identity") {
  return {{shape.inputs, shape.outputs, Synapse::kDot, activation, true},
          DType::kF32,
          shape.batch,
          true,
          Precision::kBFloat16};
}

Dense RoundedToBFloat16(Dense m) {
  for (double& value : m.values) {
    value = static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(value))));
  }
  return m;
}

// Own kernels of backend cpu: every instruction set and thread count, and AMX.
std::vector<Configuration> OwnAndAmxConfigurations() {
  return ConfigurationsWithAmx([](const Configuration& each) { return each.backend == "cpu" && each.kernel == "own"; });
}

class MixedConformance : public testing::TestWithParam<Configuration> {
 protected:
  Chosen chosen_{GetParam()};
  const Backend* backend_ = &chosen_.get();
};

// Shapes on both sides of where bf16 begins (12 samples, 24 outputs), odd depths, ragged panels and divided sums.
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = LargeShapes();
  for (const Shape& shape : AwkwardShapes()) {
    if (shape.batch >= 12 && shape.outputs >= 24) {
      shapes.push_back(shape);
    }
  }
  shapes.insert(shapes.end(), {{12, 24, 2}, {13, 33, 3}, {31, 26, 1}, {129, 49, 51}, {40, 64, 2049}, {33, 2051, 30}});
  return shapes;
}

// Whether the layer rounds: few samples or outputs are computed in full f32.
bool Rounds(const Shape& shape) { return shape.batch >= 12 && shape.outputs >= 24; }

void CheckPasses(const Backend& backend, const Shape& shape, bool integers) {
  SCOPED_TRACE(testing::Message() << shape.batch << "x" << shape.outputs << "x" << shape.inputs);
  const auto make = [&](int64_t rows, int64_t cols, uint32_t seed) {
    return integers ? Integers(rows, cols, seed) : Reals(rows, cols, seed);
  };
  const Dense x = make(shape.batch, shape.inputs, 1);
  const Dense w = make(shape.outputs, shape.inputs, 2);
  const Dense delta = make(shape.batch, shape.outputs, 3);
  const Dense bias = make(1, shape.outputs, 4);
  const bool rounds = Rounds(shape);
  const Dense xr = rounds ? RoundedToBFloat16(x) : x;
  const Dense wr = rounds ? RoundedToBFloat16(w) : w;
  const Dense dr = rounds ? RoundedToBFloat16(delta) : delta;
  Guarded<float> x_t(x, 1), w_t(w, 0), delta_t(delta, 2), bias_t(bias, 0), a_t(shape.batch, shape.outputs, 3),
      out_t(shape.batch, shape.inputs, 1), g_t(shape.outputs, shape.inputs, 0), gb_t(shape.outputs, 1, 0);
  const auto layer = backend.Prepare(MixedRequest(shape));
  const auto expect = [&](const MatrixView& got, const oracle::Sums& want, int64_t terms, const char* what) {
    const Dense bounds = SumBounds(2, terms, std::numeric_limits<float>::epsilon(), want.magnitude);
    EXPECT_TRUE(MatchesOracle<float>(got, want.value, integers ? nullptr : &bounds)) << what;
  };
  layer->Forward({x_t.view(), w_t.view(), bias_t.data(), a_t.view(), {}});
  expect(a_t.view(), oracle::Forward(oracle::Synapse(), xr, wr, bias), shape.inputs, "forward");
  InputGradientArgs input;
  input.delta = delta_t.view();
  input.weights = w_t.view();
  input.x = x_t.view();
  input.out = out_t.view();
  layer->InputGradient(input);
  expect(out_t.view(), oracle::InputGradient(oracle::Synapse(), {dr, xr, wr, {}}), shape.outputs, "input gradient");
  layer->WeightGradient({x_t.view(), delta_t.view(), {w_t.data(), g_t.data()}, {bias_t.data(), gb_t.data()}, nullptr});
  expect(g_t.view(), oracle::DotWeightGradient(xr, dr), shape.batch, "weight gradient");
  expect(gb_t.view(), oracle::BiasGradient(delta), shape.batch, "bias gradient: in full f32");
  for (const Guarded<float>* guarded : {&x_t, &w_t, &delta_t, &a_t, &out_t, &g_t, &gb_t}) {
    EXPECT_TRUE(guarded->GuardsIntact());
  }
}

TEST_P(MixedConformance, ExactOnIntegers) {
  for (const Shape& shape : Shapes()) {
    CheckPasses(*backend_, shape, true);
  }
}

TEST_P(MixedConformance, RoundsTheOperandsAndNothingElse) {
  for (const Shape& shape : Shapes()) {
    CheckPasses(*backend_, shape, false);
  }
}

TEST_P(MixedConformance, KeepsNaNsAndInfinitiesWhereTheyBelong) {
  const Shape shape{16, 32, 33};
  const Dense w = Integers(32, 33, 2);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Dense x = Integers(16, 33, 1);
    x.at(7, 32) = bad;
    Dense positive = w;
    for (double& value : positive.values) {
      value = std::abs(value) + 1;
    }
    Guarded<float> x_t(x, 1), w_t(positive, 0), a_t(16, 32, 0);
    Guarded<float> bias(1, 32, 0);
    const Dense none(1, 32);
    Guarded<float> zeros(none, 0);
    backend_->Prepare(MixedRequest(shape))->Forward({x_t.view(), w_t.view(), zeros.data(), a_t.view(), {}});
    EXPECT_TRUE(MatchesOracle<float>(a_t.view(), oracle::Forward(oracle::Synapse(), x, positive, none).value));
  }
}

// To nearest even, in whole vectors and in the ends of rows; denormals are left to the processor (docs/library.md).
TEST_P(MixedConformance, RoundsToNearestEven) {
  constexpr int64_t kInputs = 37;
  const Shape shape{16, 32, kInputs};
  const float ulp = 1.0F / 128;
  const std::vector<std::pair<float, float>> cases{
      {1 + ulp / 2, 1},
      {1 + 3 * ulp / 2, 1 + 2 * ulp},
      {-1 - 3 * ulp / 2, -1 - 2 * ulp},
      {std::nextafter(1 + ulp / 2, 2.0F), 1 + ulp},
      {std::numeric_limits<float>::max(), INFINITY},
      {std::numeric_limits<float>::min(), std::numeric_limits<float>::min()}};
  for (const auto& [value, rounded] : cases) {
    for (const int64_t column : {int64_t{0}, int64_t{15}, int64_t{16}, kInputs - 1}) {
      Dense x(16, kInputs);
      x.at(5, column) = static_cast<double>(value);
      Dense w(32, kInputs);
      for (int64_t j = 0; j < 32; ++j) {
        w.at(j, column) = 1;
      }
      Guarded<float> x_t(x, 1), w_t(w, 0), a_t(16, 32, 0);
      backend_->Prepare(MixedRequest(shape))->Forward({x_t.view(), w_t.view(), nullptr, a_t.view(), {}});
      EXPECT_EQ(a_t.view().Row<float>(5)[31], rounded) << value << " in column " << column;
      EXPECT_EQ(a_t.view().Row<float>(4)[31], 0);
    }
  }
}

// Two products by one instruction where the processor has it and LAMINA_ISA allows it, else rounded, which is said.
TEST_P(MixedConformance, IsSupportedEverywhereAndSaysWhereItIsNoFaster) {
  const bool pairs = cpu::ApplyInstructionSets().used.bf16_products && GetParam().target == "AVX3";
  const Verdict verdict =
      backend_->Supports({MixedRequest({1, 1, 1}).layer, Pass::kForward, 1, DType::kF32, Precision::kBFloat16});
  EXPECT_TRUE(verdict);
  EXPECT_EQ(verdict.reason.empty(), pairs) << verdict.reason;
  const std::string described = backend_->Prepare(MixedRequest({16, 32, 8}))->Describe();
  EXPECT_TRUE(described.ends_with(pairs ? ", bf16 operands" : ", bf16 operands widened")) << described;
}

INSTANTIATE_TEST_SUITE_P(All, MixedConformance, testing::ValuesIn(OwnAndAmxConfigurations()),
                         [](const auto& info) { return info.param.Name(); });

TEST(MixedPrecision, IsRefusedWithAReason) {
  for (const char* name : {"serial", "threads"}) {
    const Verdict verdict = MakeBackend(name)->Supports(
        {MixedRequest({1, 1, 1}).layer, Pass::kForward, 1, DType::kF32, Precision::kBFloat16});
    EXPECT_FALSE(verdict);
    EXPECT_NE(verdict.reason.find(name), std::string::npos) << verdict.reason;
  }
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu");
  Problem distance{MixedRequest({1, 1, 1}).layer, Pass::kForward, 1, DType::kF32, Precision::kBFloat16};
  distance.layer.synapse = Synapse::kL1;
  EXPECT_NE(cpu->Supports(distance).reason.find("l1"), std::string::npos);
  Problem wide{MixedRequest({1, 1, 1}).layer, Pass::kForward, 1, DType::kF64, Precision::kBFloat16};
  EXPECT_NE(cpu->Supports(wide).reason.find("f64"), std::string::npos);
}

}  // namespace
}  // namespace lamina::conformance
