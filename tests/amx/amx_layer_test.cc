// Layers on AMX tiles by the emulated instructions: what they take, what they leave, and what the conformance suites do
// not see of them.
#include "lamina/backend/cpu/amx_layer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "lamina/backend/backends.h"
#include "lamina/base/convert.h"
#include "tests/amx/amx_checks.h"
#include "tests/caught_error.h"

namespace lamina::conformance {
namespace {

// Results of all passes of a layer with momentum, after a layer of tanh; the weights after an update among them.
struct Passes {
  Guarded<float> a, z, out, weights, bias;

  Passes(PreparedLayer& layer, const Dense& x, const Dense& w, const Dense& delta)
      : a(Dense(x.rows, w.rows), 1),
        z(a),
        out(Dense(x.rows, x.cols), 3),
        weights(w, 0),
        bias(Integers(1, w.rows, 9), 0) {
    const UpdateRule rule{.kind = UpdateKind::kSgd, .learning_rate = 0.125, .momentum = 0.5};
    const Activation previous("tanh");
    Guarded<float> xs(x, 2), deltas(delta, 1), gradient(Dense(w.rows, w.cols), 0),
        state(Integers(w.rows, w.cols, 8), 0);
    Guarded<float> bias_gradient(Dense(1, w.rows), 0), bias_state(Dense(1, w.rows), 0);
    layer.Forward({xs.view(), weights.view(), bias.data(), a.view(), z.view()});
    InputGradientArgs input;
    input.delta = deltas.view();
    input.weights = weights.view();
    input.x = xs.view();
    input.previous = &previous;
    input.out = out.view();
    layer.InputGradient(input);
    WeightGradientArgs args;
    args.x = xs.view();
    args.delta = deltas.view();
    args.weights = {weights.data(), gradient.data(), {state.data()}};
    args.bias = {bias.data(), bias_gradient.data(), {bias_state.data()}};
    args.rule = &rule;
    layer.WeightGradient(args);
  }

  void ExpectTheSameBits(const Passes& other) const {
    const auto same = [](const Guarded<float>& one, const Guarded<float>& two) {
      return std::memcmp(one.bytes().data(), two.bytes().data(), one.bytes().size() * sizeof(float)) == 0;
    };
    EXPECT_TRUE(same(a, other.a)) << "a";
    EXPECT_TRUE(same(z, other.z)) << "z";
    EXPECT_TRUE(same(out, other.out)) << "input gradient";
    EXPECT_TRUE(same(weights, other.weights)) << "weights";
    EXPECT_TRUE(same(bias, other.bias)) << "bias";
  }
};

// Small integers are bf16 numbers, and their sums exact: bias, activation, slope and update are then those of f32.
TEST_F(AmxLayer, FinishesAsTheTilesOfRegistersDo) {
  const std::unique_ptr<Backend> exact = MakeBackend("cpu");
  for (const Precision precision : PrecisionsOfParts(true)) {
    for (const int threads : {1, 3}) {
      const std::unique_ptr<Backend> amx = amx_emulated::MakeBackend({.threads = threads});
      for (const char* activation : {"tanh", "softmax"}) {
        for (const Shape& shape : kShapes) {
          SCOPED_TRACE(testing::Message() << activation << " " << shape.batch << "x" << shape.outputs << "x"
                                          << shape.inputs << " on " << threads);
          const Dense x = Integers(shape.batch, shape.inputs, 1);
          const Dense w = Integers(shape.outputs, shape.inputs, 2);
          const Dense delta = Integers(shape.batch, shape.outputs, 3);
          const OnTiles on_tiles;
          const Passes got(*amx->Prepare(RequestOf(shape, precision, activation)), x, w, delta);
          EXPECT_TRUE(on_tiles.Is(true));
          EXPECT_FALSE(amx_emulated::TilesInUse()) << "tiles kept after the call";
          got.ExpectTheSameBits(Passes(*exact->Prepare(RequestOf(shape, Precision::kExact, activation)), x, w, delta));
        }
      }
    }
  }
}

// Ends of 1 to 33 in every dimension; of bytes, four a lane, too.
TEST_F(AmxLayer, EndsAnywhere) {
  const std::unique_ptr<Backend> exact = MakeBackend("cpu");
  const std::unique_ptr<Backend> amx = amx_emulated::MakeBackend({.threads = 1});
  for (int64_t n = 1; n <= 33; ++n) {
    const Shape shape{15 + n, 23 + n, n};
    SCOPED_TRACE(n);
    const Dense x = Integers(shape.batch, shape.inputs, 1);
    const Dense w = Integers(shape.outputs, shape.inputs, 2);
    const Dense delta = Integers(shape.batch, shape.outputs, 3);
    const Passes got(*amx->Prepare(RequestOf(shape, Precision::kBFloat16)), x, w, delta);
    got.ExpectTheSameBits(Passes(*exact->Prepare(RequestOf(shape, Precision::kExact)), x, w, delta));

    Guarded<int8_t> bytes(x, 1), weights(w, 2);
    Guarded<float> a(Dense(shape.batch, shape.outputs), 1);
    const LayerPlanRequest request{
        {shape.inputs, shape.outputs, Synapse::kDot, "identity", false}, DType::kI8, shape.batch};
    amx->Prepare(request)->Forward({bytes.view(), weights.view(), nullptr, a.view()});
    EXPECT_TRUE(MatchesOracle<float>(a.view(), oracle::Forward(oracle::Synapse(), x, w, {}).value));
    EXPECT_TRUE(a.GuardsIntact());
  }
}

// Blocks so small that every range is divided, some in unequal parts, and sums are continued.
TEST_F(AmxLayer, ComputesTheSameInBlocksOfAnySize) {
  const amx_emulated::EmulatedAmx amx;
  const Shape shape{100, 75, 130};
  const Dense x = Integers(shape.batch, shape.inputs, 1);
  const Dense w = Integers(shape.outputs, shape.inputs, 2);
  const Dense delta = Integers(shape.batch, shape.outputs, 3);
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu");
  const Passes want(*cpu->Prepare(RequestOf(shape, Precision::kExact)), x, w, delta);
  for (const auto& [packed, depth, column_block] :
       {std::array{1, 1, 1}, std::array{2000, 32, 1000}, std::array{4096, 40, 4096}, std::array{10000, 1000, 1}}) {
    for (const int threads : {1, 3}) {
      for (const Precision precision : PrecisionsOfParts(false)) {
        SCOPED_TRACE(testing::Message() << packed << " " << depth << " " << column_block << " on " << threads << " "
                                        << NameOf(precision, kPrecisions));
        const LayerPlanRequest request = RequestOf(shape, precision);
        cpu::PassPlans plans;
        plans.fill(cpu::PassPlan(Plan{.threads = threads}, request, threads));
        for (cpu::PassPlan& plan : plans) {
          plan.budget.packed = packed;
          plan.budget.depth = depth;
          plan.budget.column_block = column_block;
        }
        Passes(*cpu::MakeAmxLayer(request, plans), x, w, delta).ExpectTheSameBits(want);
      }
    }
  }
}

// What is left in scratch by a pass before must not be read: not even times zero.
TEST_F(AmxLayer, ForgetsNotANumberWithThePass) {
  const amx_emulated::EmulatedAmx amx;
  const Shape shape{33, 31, 70};
  const auto filled = [](int64_t rows, int64_t cols) { return Dense(rows, cols, std::nan("")); };
  const std::unique_ptr<PreparedLayer> layer =
      amx_emulated::MakeBackend({.threads = 1})->Prepare(RequestOf(shape, Precision::kFast));
  Passes(*layer, filled(shape.batch, shape.inputs), filled(shape.outputs, shape.inputs),
         filled(shape.batch, shape.outputs));
  const Dense x = Integers(shape.batch, shape.inputs, 1);
  const Dense w = Integers(shape.outputs, shape.inputs, 2);
  const Dense delta = Integers(shape.batch, shape.outputs, 3);
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu");
  Passes(*layer, x, w, delta)
      .ExpectTheSameBits(Passes(*cpu->Prepare(RequestOf(shape, Precision::kExact)), x, w, delta));
}

TEST_F(AmxLayer, HasTheSameBitsOnAnyNumberOfThreads) {
  const Shape shape{65, 70, 90};
  const Dense x = Reals(shape.batch, shape.inputs, 1);
  const Dense w = Reals(shape.outputs, shape.inputs, 2);
  const Dense delta = Reals(shape.batch, shape.outputs, 3);
  const Plan all_threads{.threads = 3};
  struct Fixed : PlanSource {
    Plan plan;
    Plan PlanFor(const Problem&) const override { return plan; }
  };
  const auto plans = std::make_shared<Fixed>();
  plans->plan = all_threads;
  const std::unique_ptr<Backend> one = amx_emulated::MakeBackend({.threads = 1});
  const std::unique_ptr<Backend> three = amx_emulated::MakeBackend({.threads = 3, .plans = plans});
  for (const Precision precision : PrecisionsOfParts(false)) {
    const LayerPlanRequest request = RequestOf(shape, precision);
    Passes(*one->Prepare(request), x, w, delta).ExpectTheSameBits(Passes(*three->Prepare(request), x, w, delta));
  }
}

// Sums of what is stored, and of what the other kernels make of it, are the same integers; so are the slices'.
TEST_F(AmxLayer, StoredOperandsAreMultipliedOnTiles) {
  const Shape shape{33, 40, 70};
  const std::unique_ptr<Backend> amx = amx_emulated::MakeBackend({.threads = 1});
  for (const DType dtype : {DType::kU8, DType::kI8, DType::kBF16, DType::kF16}) {
    for (const bool any_slicing : {false, true}) {
      LayerPlanRequest request{{shape.inputs, shape.outputs, Synapse::kDot, "tanh", true}, dtype, shape.batch};
      request.any_slicing = any_slicing;
      const bool bytes = DTypeSize_bytes(dtype) == 1;
      request.precision = dtype == DType::kF16 ? Precision::kBFloat16x3 : Precision::kExact;
      const bool tiles = bytes || !any_slicing;  // sums of floating-point numbers depend on their order
      DispatchDType(dtype, [&]<class E>(E) {
        if constexpr (sizeof(E) <= 2) {
          Dense dx = Integers(shape.batch, shape.inputs, 1);
          for (double& value : dx.values) {
            value = std::abs(value);
          }
          Guarded<E> x(dx, 3), w(Dense(shape.outputs, shape.inputs, 100), 1);
          Guarded<float> bias(Integers(1, shape.outputs, 3), 0), a(Dense(shape.batch, shape.outputs), 2), want = a;
          const std::unique_ptr<PreparedLayer> layer = amx->Prepare(request);
          EXPECT_EQ(layer->Describe().find("AMX") != std::string::npos, tiles) << layer->Describe();
          const OnTiles on_tiles;
          layer->Forward({x.view(), w.view(), bias.data(), a.view()});
          EXPECT_TRUE(on_tiles.Is(tiles));
          MakeBackend("cpu")->Prepare(request)->Forward({x.view(), w.view(), bias.data(), want.view()});
          EXPECT_EQ(a.bytes(), want.bytes()) << DTypeName(dtype);
        }
      });
    }
  }
}

TEST_F(AmxLayer, KeepsToPlansOfOtherKernels) {
  const Shape shape{20, 30, 40};
  const LayerPlanRequest request = RequestOf(shape, Precision::kBFloat16);
  const Dense x = Reals(shape.batch, shape.inputs, 1);
  const Dense w = Reals(shape.outputs, shape.inputs, 2);
  const Dense delta = Reals(shape.batch, shape.outputs, 3);
  struct Fixed : PlanSource {
    std::string kernel;
    Plan PlanFor(const Problem&) const override { return {.kernel = kernel}; }
  };
  for (const char* kernel : {"", "amx", "onednn", "tile", "dots"}) {
    const auto plans = std::make_shared<Fixed>();
    plans->kernel = kernel;
    const std::unique_ptr<Backend> backend = amx_emulated::MakeBackend({.threads = 1, .plans = plans});
    const OnTiles on_tiles;
    const Passes passes(*backend->Prepare(request), x, w, delta);
    const bool others = std::string_view(kernel) == "tile" || std::string_view(kernel) == "dots";
    EXPECT_TRUE(on_tiles.Is(!others)) << kernel;
    EXPECT_EQ(backend->Prepare(request)->Describe().find("AMX") == std::string::npos, others) << kernel;
  }
}

TEST_F(AmxLayer, LeavesCallsOfFewSamplesToOtherKernels) {
  const Shape shape{64, 32, 48};
  const std::unique_ptr<PreparedLayer> layer =
      amx_emulated::MakeBackend({.threads = 1})->Prepare(RequestOf(shape, Precision::kBFloat16));
  const amx_emulated::EmulatedAmx amx;
  for (const int64_t batch : {1, 15, 16, 64}) {
    Guarded<float> x(Reals(batch, shape.inputs, 1), 0), w(Reals(shape.outputs, shape.inputs, 2), 0);
    Guarded<float> a(Dense(batch, shape.outputs), 0);
    const OnTiles on_tiles;
    layer->Forward({x.view(), w.view(), nullptr, a.view(), {}});
    EXPECT_TRUE(on_tiles.Is(batch >= 16)) << batch;
  }
}

TEST_F(AmxLayer, IsForWhatTilesMultiplyWhereTheyAre) {
  cpu::InstructionSets sets = cpu::ApplyInstructionSets().used;
  sets.bf16_tiles = sets.byte_tiles = false;
  LayerPlanRequest request = RequestOf({64, 64, 64}, Precision::kBFloat16);
  EXPECT_FALSE(cpu::AmxServes(request, sets)) << "no tiles";
  sets.byte_tiles = true;
  EXPECT_FALSE(cpu::AmxServes(request, sets)) << "of bytes only";
  sets.bf16_tiles = true;
  EXPECT_TRUE(cpu::AmxServes(request, sets));
  const auto served = [&](auto&& change) {
    LayerPlanRequest changed = request;
    change(changed);
    return cpu::AmxServes(changed, sets).ok;
  };
  for (const auto& [name, precision] : kPrecisions) {
    EXPECT_EQ(served([&](LayerPlanRequest& r) { r.precision = precision; }), precision != Precision::kExact) << name;
  }
  EXPECT_FALSE(served([](LayerPlanRequest& r) { r.max_batch = 15; }));
  EXPECT_FALSE(served([](LayerPlanRequest& r) { r.layer.outputs = 23; }));
  EXPECT_FALSE(served([](LayerPlanRequest& r) { r.any_slicing = true; }));
  EXPECT_FALSE(served([](LayerPlanRequest& r) { r.layer.synapse = Synapse::kL1; }));
  EXPECT_FALSE(served([](LayerPlanRequest& r) { r.dtype = DType::kF64; }));
  LayerPlanRequest half{request.layer, DType::kF16, 64};
  EXPECT_FALSE(cpu::AmxServes(half, sets)) << "infinities stay what they are";
  half.precision = Precision::kFast;
  EXPECT_TRUE(cpu::AmxServes(half, sets));
  const LayerPlanRequest stored{request.layer, DType::kU8, 64};
  EXPECT_TRUE(cpu::AmxServes(stored, sets));
  sets.byte_tiles = false;
  EXPECT_FALSE(cpu::AmxServes(stored, sets)) << "no tiles of bytes";
  request.layer.synapse = Synapse::kL1;
  EXPECT_TRUE(Mentions(cpu::AmxServes(request, sets).reason, "l1")) << "as without tiles";
}

}  // namespace
}  // namespace lamina::conformance
