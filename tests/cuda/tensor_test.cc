// Dot products on the tensor cores by warps ("tensor", "tensor-small") and by groups of warps ("wgmma", "wgmma-small").
// The oracle gets operands that the test rounds itself. Where there is no GPU, mma.sync and wgmma are emulated, number
// by number where the manual says that it is.
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/product_kernels.h"
#include "lamina/base/convert.h"
#include "tests/conformance/configurations.h"
#include "tests/cuda/emulated_backend.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::Guarded;
using oracle::Dense;

struct Operands {
  DType dtype;
  Precision precision;
  int mantissa_bits;  // that the products see

  Dense Round(Dense m) const {
    for (double& value : m.values) {
      int exponent = 0;
      const double mantissa = std::ldexp(std::frexp(value, &exponent), mantissa_bits + 1);
      // bf16 to nearest even, TF32 away from 0 at ties
      value = std::ldexp(mantissa_bits == 10 ? std::round(mantissa) : std::nearbyint(mantissa),
                         exponent - mantissa_bits - 1);
    }
    return m;
  }
};

constexpr Operands kTf32{DType::kF32, Precision::kFast, 10};
constexpr Operands kRounded{DType::kF32, Precision::kBFloat16, 7};
constexpr Operands kBF16{DType::kBF16, Precision::kExact, 7};
constexpr Operands kF16{DType::kF16, Precision::kExact, 10};

// Ragged and whole tiles of both sizes; aligned rows (k and outputs multiples of 4) and others.
std::vector<conformance::Shape> TensorShapes() {
  return {{1, 1, 1}, {17, 5, 33}, {64, 64, 16}, {130, 40, 20}, {40, 132, 72}, {8, 8, 600}, {200, 300, 700}};
}

LayerPlanRequest RequestOf(const Operands& operands, const conformance::Shape& shape, bool training) {
  return {{shape.inputs, shape.outputs, Synapse::kDot, "tanh", true},
          operands.dtype,
          shape.batch,
          training,
          operands.precision};
}

// One shape in one kind: forward with everything it writes, and the gradients where there are such.
template <class E>
void CheckShape(const Chosen& cuda, const Operands& operands, const conformance::Shape& shape, bool integers) {
  SCOPED_TRACE(testing::Message() << DTypeName(operands.dtype) << ", " << operands.mantissa_bits << " bits, "
                                  << shape.batch << "x" << shape.outputs << "x" << shape.inputs);
  const auto make = [&](int64_t rows, int64_t cols, uint32_t seed) {
    const Dense m = integers ? conformance::Integers(rows, cols, seed) : conformance::Reals(rows, cols, seed);
    return sizeof(E) == 2 ? operands.Round(m) : m;  // that the type holds
  };
  const Dense x = make(shape.batch, shape.inputs, 1);
  const Dense w = make(shape.outputs, shape.inputs, 2);
  const Dense delta = make(shape.batch, shape.outputs, 3);
  const Dense bias = make(1, shape.outputs, 4);
  const Dense xr = operands.Round(x);
  const Dense wr = operands.Round(w);
  const Dense dr = operands.Round(delta);
  Guarded<E> x_t(x, 0), w_t(w, 0);
  Guarded<float> bias_t(bias, 0), a_t(shape.batch, shape.outputs, 1), z_t = a_t;
  const bool training = operands.dtype == DType::kF32;
  const auto layer = cuda->Prepare(RequestOf(operands, shape, training));
  const auto expect = [&](const MatrixView& got, const oracle::Sums& want, int64_t terms, const char* what) {
    const Dense bounds = SumBounds(2, terms, std::numeric_limits<float>::epsilon(), want.magnitude);
    EXPECT_TRUE(MatchesOracle<float>(got, want.value, integers ? nullptr : &bounds)) << what;
  };
  layer->Forward({x_t.view(), w_t.view(), bias_t.data(), a_t.view(), z_t.view()});
  expect(z_t.view(), oracle::Forward(oracle::Synapse(), xr, wr, bias), shape.inputs, "forward");
  Dense curve(shape.batch, shape.outputs);
  for (int64_t i = 0; i < shape.batch; ++i) {
    for (int64_t j = 0; j < shape.outputs; ++j) {
      curve.at(i, j) = std::tanh(static_cast<double>(z_t.view().Row<float>(i)[j]));
    }
  }
  const Dense curve_bounds(shape.batch, shape.outputs, 1e-6);
  EXPECT_TRUE(MatchesOracle<float>(a_t.view(), curve, &curve_bounds)) << "activation";
  EXPECT_TRUE(a_t.GuardsIntact() && z_t.GuardsIntact());
  if (!training) {
    return;
  }
  Guarded<float> delta_t(delta, 0), x_f(x, 0), w_f(w, 0), out_t(shape.batch, shape.inputs, 2),
      g_t(shape.outputs, shape.inputs, 0), gb_t(shape.outputs, 1, 0);
  InputGradientArgs input;
  input.delta = delta_t.view();
  input.weights = w_f.view();
  input.x = x_f.view();
  input.out = out_t.view();
  layer->InputGradient(input);
  expect(out_t.view(), oracle::InputGradient(oracle::Synapse(), {dr, xr, wr, {}}), shape.outputs, "input gradient");
  layer->WeightGradient({x_f.view(), delta_t.view(), {w_f.data(), g_t.data()}, {bias_t.data(), gb_t.data()}, nullptr});
  expect(g_t.view(), oracle::DotWeightGradient(xr, dr), shape.batch, "weight gradient");
  EXPECT_TRUE(out_t.GuardsIntact() && g_t.GuardsIntact());
}

void CheckKind(const Operands& operands, bool integers) {
  int kernels = 0;
  for (const ProductKernelRow& row : kProductKernels) {
    if (row.family != ProductFamily::kTensor && row.family != ProductFamily::kGroups) {
      continue;
    }
    SCOPED_TRACE(row.name);
    const Chosen cuda({std::string(conformance::CudaUnderTest()), std::string(row.name)});
    if (!cuda.Supports(Problem::Parse("dot-tanh:f32-fast:forward:8x8x8"))) {  // not every GPU has groups of warps
      continue;
    }
    ++kernels;
    for (const conformance::Shape& shape : TensorShapes()) {
      DispatchDType(operands.dtype, [&]<class E>(E) {
        if constexpr (!std::is_integral_v<E> && !std::is_same_v<E, double>) {
          CheckShape<E>(cuda, operands, shape, integers);
        }
      });
    }
  }
  EXPECT_GE(kernels, conformance::CudaUnderTest() == conformance::kEmulatedCuda ? 6 : 2);
}

TEST(CudaTensor, IntegersExactly) {
  for (const Operands& each : {kTf32, kRounded, kBF16, kF16}) {
    CheckKind(each, true);
  }
}

TEST(CudaTensor, RoundsTf32AndNothingElse) { CheckKind(kTf32, false); }
TEST(CudaTensor, RoundsBFloat16AndNothingElse) { CheckKind(kRounded, false); }
TEST(CudaTensor, HalvesAsTheyAre) {
  CheckKind(kBF16, false);
  CheckKind(kF16, false);
}

TEST(CudaTensor, KeepsNaNsAndInfinitiesWhereTheyBelong) {
  const conformance::Shape shape{16, 32, 33};
  for (const Operands& operands : {kTf32, kRounded}) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const Chosen cuda({std::string(conformance::CudaUnderTest()), "tensor"});
      Dense x = conformance::Integers(shape.batch, shape.inputs, 1);
      x.at(7, 32) = bad;
      const Dense w(shape.outputs, shape.inputs, 2);
      Guarded<float> x_t(x, 0), w_t(w, 0), a_t(shape.batch, shape.outputs, 0), z_t = a_t;
      LayerPlanRequest request = RequestOf(operands, shape, false);
      cuda->Prepare(request)->Forward({x_t.view(), w_t.view(), nullptr, a_t.view(), z_t.view()});
      EXPECT_TRUE(MatchesOracle<float>(z_t.view(), oracle::Forward(oracle::Synapse(), x, w, {}).value));
    }
  }
}

TEST(CudaTensor, SaysWhyNot) {
  const Chosen cuda({std::string(conformance::CudaUnderTest()), "tensor"});
  const auto reason = [&](const char* problem) { return cuda.Supports(Problem::Parse(problem)).reason; };
  EXPECT_NE(reason("l1-identity:f32-fast:forward:8x8x8").find("dot products and, forward, l2"), std::string::npos);
  EXPECT_NE(reason("dot-tanh:f64:forward:8x8x8").find("f64"), std::string::npos);
  EXPECT_NE(reason("dot-tanh:f32:forward:8x8x8").find("precision fast or bf16"), std::string::npos);
  EXPECT_EQ(reason("dot-tanh:f32-bf16:weight_gradient:8x8x8"), "");
  EXPECT_NE(reason("l2-identity:f32:forward:8x8x8").find("precision fast"), std::string::npos);
  EXPECT_NE(reason("l2-identity:f32-fast:input_gradient:8x8x8").find("forward"), std::string::npos);
  EXPECT_EQ(reason("l2sq-identity:bf16-fast:forward:8x8x8"), "");
}

// Distances as norms and a product are within the bound that docs/library.md promises, and exact for integers.
TEST(CudaTensor, DistancesWithinTheirBound) {
  struct Case {
    Synapse synapse;
    const char* kernel;
    const Operands* operands;
    bool integers;
  };
  constexpr Operands kHalves{DType::kBF16, Precision::kFast, 7};
  for (const auto& [synapse, kernel, operands, integers] :
       {Case{Synapse::kL2, "auto", &kTf32, false}, Case{Synapse::kL2Squared, "auto", &kTf32, true},
        Case{Synapse::kL2Squared, "tensor-small", &kTf32, false}, Case{Synapse::kL2, "auto", &kHalves, false}}) {
    const conformance::Shape shape{70, 130, 45};
    SCOPED_TRACE(testing::Message() << SynapseName(synapse) << " by " << kernel << " of "
                                    << DTypeName(operands->dtype));
    const Chosen cuda({std::string(conformance::CudaUnderTest()), kernel});
    Dense x = integers ? conformance::Integers(shape.batch, shape.inputs, 1)
                       : operands->Round(conformance::Reals(shape.batch, shape.inputs, 1));
    Dense w = integers ? conformance::Integers(shape.outputs, shape.inputs, 2)
                       : operands->Round(conformance::Reals(shape.outputs, shape.inputs, 2));
    if (operands->dtype == DType::kF32 && !integers) {
      x = conformance::Reals(shape.batch, shape.inputs, 1);
      w = conformance::Reals(shape.outputs, shape.inputs, 2);
    }
    for (int64_t k = 0; k < shape.inputs; ++k) {
      w.at(3, k) = x.at(5, k);  // a distance of 0
    }
    LayerPlanRequest request{{shape.inputs, shape.outputs, synapse, "identity", false},
                             operands->dtype,
                             shape.batch,
                             false,
                             Precision::kFast};
    Guarded<float> a_t(shape.batch, shape.outputs, 1), z_t = a_t;
    const auto layer = cuda->Prepare(request);
    DispatchDType(operands->dtype, [&]<class E>(E) {
      if constexpr (!std::is_integral_v<E> && !std::is_same_v<E, double>) {
        Guarded<E> x_t(x, 0), w_t(w, 0);
        layer->Forward({x_t.view(), w_t.view(), nullptr, a_t.view(), z_t.view()});
      }
    });
    const double u = operands->dtype == DType::kF32 ? std::ldexp(1.0, -11) : 0.0;
    const double eps = std::numeric_limits<float>::epsilon();
    for (int64_t i = 0; i < shape.batch; ++i) {
      for (int64_t j = 0; j < shape.outputs; ++j) {
        double squared = 0, xx = 0, ww = 0;
        for (int64_t k = 0; k < shape.inputs; ++k) {
          squared += (x.at(i, k) - w.at(j, k)) * (x.at(i, k) - w.at(j, k));
          xx += x.at(i, k) * x.at(i, k);
          ww += w.at(j, k) * w.at(j, k);
        }
        const double moved = u * (std::sqrt(xx) + std::sqrt(ww));
        const double lost = integers ? 0 : 2 * static_cast<double>(shape.inputs + 4) * eps * (xx + ww);
        const double got = a_t.view().Row<float>(i)[j];
        const double got_squared = synapse == Synapse::kL2 ? got * got : got;
        const double bound = lost + 2 * moved * std::sqrt(squared) + moved * moved + 4 * eps * squared;
        ASSERT_LE(std::abs(got_squared - squared), integers ? 0 : bound) << i << ", " << j;
      }
    }
  }
}

struct NamesWgmma final : PlanSource {
  Plan PlanFor(const Problem&) const override { return {.kernel = "wgmma-small"}; }
};

// A profile of another GPU names groups of warps: warps alone do it where there are none.
TEST(CudaTensor, GroupsOfWarpsOnlyWhereTheyAre) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "one GPU has one compute capability";
  }
  const LayerPlanRequest request = RequestOf(kTf32, {64, 64, 16}, false);
  for (const auto& [major, kernel] : {std::pair{8, "kernel tensor-small"}, {9, "kernel wgmma-small"}}) {
    cuda_emulated::SetEmulatedCompute(major);
    const auto planned = cuda_emulated::MakeBackend({.plans = std::make_shared<NamesWgmma>()});
    const auto named = cuda_emulated::MakeBackend({.kernel = "wgmma"});
    cuda_emulated::SetEmulatedCompute(cuda_emulated::kEmulatedCompute);
    EXPECT_NE(planned->Prepare(request)->Describe().find(kernel), std::string::npos) << major;
    const Verdict verdict = named->Supports(Problem::Parse("dot-tanh:bf16:forward:8x8x8"));
    EXPECT_EQ(verdict.reason.find("compute capability 9.0, this GPU has 8.0") != std::string::npos, major == 8);
  }
}

// A plan names it beside the library's; rows of bf16 operands are never those of a kernel that does not round.
TEST(CudaTensor, IsAmongTheCandidates) {
  const Chosen cuda({std::string(conformance::CudaUnderTest())});
  const auto has = [&](const char* problem, std::string_view kernel) {
    const std::vector<Plan> plans = cuda.Candidates(Problem::Parse(problem));
    return std::any_of(plans.begin(), plans.end(), [&](const Plan& plan) { return plan.kernel == kernel; });
  };
  for (const char* problem : {"dot-tanh:f32-fast:forward:256x256x256", "dot-tanh:bf16:forward:256x256x256"}) {
    EXPECT_TRUE(has(problem, "tensor") && has(problem, "tensor-small") && has(problem, "large")) << problem;
  }
  EXPECT_TRUE(has("dot-tanh:f32-bf16:forward:256x256x256", "tensor"));
  EXPECT_FALSE(has("dot-tanh:f32-bf16:forward:256x256x256", "large"));
  EXPECT_FALSE(has("dot-tanh:f32:forward:256x256x256", "tensor"));
  EXPECT_TRUE(has("l1-identity:f32:forward:256x256x256", "medium"));
  EXPECT_EQ(has("dot-tanh:bf16:forward:256x256x256", "wgmma-pingpong"),
            has("dot-tanh:bf16:forward:256x256x256", "wgmma"));
  EXPECT_FALSE(has("dot-tanh:f32-fast:forward:256x256x256", "wgmma-pingpong")) << "what copies does not round";
}

}  // namespace
}  // namespace lamina
