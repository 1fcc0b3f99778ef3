// Every backend, instruction set and thread count against the oracle: forward passes on halves and integers, with
// Precision::kFast, and cut into slices.
#include <cstring>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "tests/caught_error.h"
#include "tests/conformance/layer_checks.h"

namespace lamina::conformance {
namespace {

constexpr std::array kIntegers{DType::kU8, DType::kI8, DType::kI16, DType::kI32, DType::kI64};

// Integers in [least, most], both ends among them.
Dense Between(int64_t rows, int64_t cols, uint32_t seed, int64_t least, int64_t most) {
  std::mt19937_64 random(seed);
  Dense m(rows, cols);
  for (double& value : m.values) {
    const uint64_t pick = random();
    value = pick % 8 == 0 ? static_cast<double>(least)
            : pick % 8 == 1
                ? static_cast<double>(most)
                : static_cast<double>(least + static_cast<int64_t>(pick / 8 % static_cast<uint64_t>(most - least + 1)));
  }
  return m;
}

struct Range {
  int64_t least, most;
  bool declared;  // as LayerPlanRequest::largest_x
};

// Ranges whose sums fit for all inputs tested: everything the type holds where it does.
std::vector<Range> RangesOf(DType dtype) {
  switch (dtype) {
    case DType::kU8: return {{0, 255, false}};
    case DType::kI8: return {{-128, 127, false}};
    case DType::kI16: return {{-32768, 32767, false}, {-300, 300, true}, {-16000, 16000, true}};
    case DType::kI32: return {{-(1 << 20), 1 << 20, true}};
    default: return {{-(1 << 20), 1 << 20, true}};
  }
}

class TypedConformance : public ConfigurationTest {
 protected:
  static bool Computes() { return GetParam().backend != "blas" && !GetParam().OnlyF32(); }
  // What this configuration computes of l1, l2, l2sq and dot.
  static std::vector<Synapse> Synapses() { return {Synapse::kDot, Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}; }
};

// Sums and activations of one integer layer; all exact but the last rounding.
template <class E>
void CheckIntegers(const Chosen& backend, Synapse synapse, const Shape& shape, const Range& range, int64_t pad) {
  const DType dtype = DTypeOf<E>();
  SCOPED_TRACE(testing::Message() << DTypeName(dtype) << " " << SynapseName(synapse) << " " << shape.batch << "x"
                                  << shape.outputs << "x" << shape.inputs << " up to " << range.most);
  const Dense dx = Between(shape.batch, shape.inputs, 1, range.least, range.most);
  const Dense dw = Between(shape.outputs, shape.inputs, 2, range.least, range.most);
  Guarded<E> x(dx, pad), w(dw, pad);
  LayerPlanRequest request{{shape.inputs, shape.outputs, synapse, "identity", false}, dtype, shape.batch};
  if (range.declared) {
    request.largest_x = request.largest_w = static_cast<double>(-range.least);
  }
  const auto layer = backend->Prepare(request);
  // Sums of l2 are those of l2sq; then comes a root of its own rounding.
  const Dense want =
      oracle::Forward(SynapseName(synapse == Synapse::kL2 ? Synapse::kL2Squared : synapse), dx, dw, {}).value;
  const auto check = [&]<class Out, class Sum>(Out, Sum) {
    Guarded<Out> a(shape.batch, shape.outputs, pad);
    Guarded<Sum> sums(shape.batch, shape.outputs, pad);
    ForwardArgs args{x.view(), w.view(), nullptr, a.view()};
    args.sums = sums.view();
    layer->Forward(args);
    Dense finished = Rounded<Out>(want);
    for (double& value : finished.values) {
      value = synapse == Synapse::kL2 ? static_cast<double>(static_cast<Out>(std::sqrt(value))) : value;
    }
    EXPECT_TRUE(MatchesOracle<Out>(a.view(), finished)) << layer->Describe();
    EXPECT_TRUE(MatchesOracle<Sum>(sums.view(), want)) << layer->Describe();
    EXPECT_TRUE(a.GuardsIntact() && sums.GuardsIntact());
    Guarded<Sum> only(shape.batch, shape.outputs, pad);
    args.a = {};
    args.sums = only.view();
    layer->Forward(args);
    EXPECT_EQ(only.bytes(), sums.bytes());
  };
  const bool in_f64 = OutputType(dtype) == DType::kF64;
  if (SumType(dtype) == DType::kI32) {
    check(float{}, int32_t{});
  } else if (in_f64) {
    check(double{}, int64_t{});
  } else {
    check(float{}, int64_t{});
  }
}

TEST_P(TypedConformance, IntegerSumsAreExact) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  OneIn some(3, GetParam());
  int n = 0;
  for (const DType dtype : kIntegers) {
    for (const Range& range : RangesOf(dtype)) {
      for (const Synapse synapse : Synapses()) {
        for (const Shape& shape : some.Of(AwkwardAndLargeShapes())) {
          DispatchDType(dtype, [&]<class E>(E) {
            if constexpr (std::is_integral_v<E>) {
              CheckIntegers<E>(backend, synapse, shape, range, n++ % 4);
            }
          });
        }
      }
    }
  }
}

// A layer of halves, or fast; bounds null: exactly.
template <class E, class Out>
void CheckFloats(const Chosen& backend, const LayerPlanRequest& request, const Dense& dx, const Dense& dw, int64_t pad,
                 const Dense* bounds) {
  SCOPED_TRACE(testing::Message() << DTypeName(request.dtype) << " " << SynapseName(request.layer.synapse) << " "
                                  << dx.rows << "x" << dw.rows << "x" << dx.cols
                                  << (request.precision == Precision::kFast ? " fast" : ""));
  Guarded<E> x(dx, pad), w(dw, pad);
  Guarded<Out> a(dx.rows, dw.rows, pad), distance = a;
  const Dense bias = Integers(1, dw.rows, 5);
  Guarded<Out> own_bias(bias, 0);
  const auto layer = backend->Prepare(request);
  ForwardArgs args{x.view(), w.view(), request.layer.bias ? own_bias.data() : nullptr, a.view()};
  args.distance = distance.view();
  layer->Forward(args);
  const oracle::Synapse synapse(SynapseName(request.layer.synapse));
  const Dense sums = oracle::Forward(synapse, dx, dw, {}).value;
  const Dense want = oracle::Forward(synapse, dx, dw, request.layer.bias ? bias : Dense()).value;
  if (bounds == nullptr) {
    EXPECT_TRUE(MatchesOracle<Out>(distance.view(), Rounded<Out>(sums))) << layer->Describe();
    EXPECT_TRUE(request.layer.synapse == Synapse::kL2 || MatchesOracle<Out>(a.view(), Rounded<Out>(want)));
  } else {
    EXPECT_TRUE(MatchesOracle<Out>(a.view(), want, bounds)) << layer->Describe();
  }
  EXPECT_TRUE(a.GuardsIntact() && distance.GuardsIntact());
}

TEST_P(TypedConformance, HalvesAreExactOnIntegers) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  OneIn some(3, GetParam());
  int n = 0;
  for (const Synapse synapse : Synapses()) {
    for (const Shape& shape : some.Of(AwkwardAndLargeShapes())) {
      const Dense x = Integers(shape.batch, shape.inputs, 1);
      const Dense w = Integers(shape.outputs, shape.inputs, 2);
      const LayerSpec layer{shape.inputs, shape.outputs, synapse, "identity", n % 2 == 0};
      CheckFloats<Float16, float>(backend, {layer, DType::kF16, shape.batch}, x, w, n % 4, nullptr);
      CheckFloats<BFloat16, float>(backend, {layer, DType::kBF16, shape.batch}, x, w, n++ % 3, nullptr);
    }
  }
}

// Reals as the type holds them.
template <class E>
Dense RealsOf(int64_t rows, int64_t cols, uint32_t seed) {
  Dense m = Reals(rows, cols, seed);
  for (double& value : m.values) {
    value = static_cast<double>(AsNumber(static_cast<E>(value)));
  }
  return m;
}

TEST_P(TypedConformance, HalvesOfReals) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  for (const Synapse synapse : {Synapse::kDot, Synapse::kL1, Synapse::kL2Squared}) {
    for (const Shape& shape : {Shape{1, 10, 17}, {3, 33, 20}, {25, 31, 65}, {50, 10, 33}, {33, 97, 1300}}) {
      const auto check = [&]<class E>(E) {
        const Dense x = RealsOf<E>(shape.batch, shape.inputs, 1);
        const Dense w = RealsOf<E>(shape.outputs, shape.inputs, 2);
        const oracle::Sums sums = oracle::Forward(oracle::Synapse(SynapseName(synapse)), x, w, {});
        const Dense bounds = SumBounds(1, shape.inputs + 3, kEps<float>, sums.magnitude);
        const LayerSpec layer{shape.inputs, shape.outputs, synapse, "identity", false};
        CheckFloats<E, float>(backend, {layer, DTypeOf<E>(), shape.batch}, x, w, 1, &bounds);
      };
      check(Float16{});
      check(BFloat16{});
    }
  }
}

TEST_P(TypedConformance, FastStaysWithinItsBound) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  const bool pairs = backend.get().space() == Space::kDevice;
  const auto check = [&]<class E, class Out>(const Shape& shape, E, Out) {
    LayerPlanRequest request{{shape.inputs, shape.outputs, Synapse::kL1, "identity", false}, DTypeOf<E>(), shape.batch};
    request.precision = Precision::kFast;
    CheckFloats<E, Out>(backend, request, Integers(shape.batch, shape.inputs, 1),
                        Integers(shape.outputs, shape.inputs, 2), shape.batch % 3, nullptr);
    const Dense x = RealsOf<E>(shape.batch, shape.inputs, 3);
    const Dense w = RealsOf<E>(shape.outputs, shape.inputs, 4);
    Dense bounds(shape.batch, shape.outputs);
    for (int64_t i = 0; i < shape.batch; ++i) {
      for (int64_t j = 0; j < shape.outputs; ++j) {
        for (int64_t k = 0; k < shape.inputs; ++k) {
          bounds.at(i, j) += std::abs(x.at(i, k)) + std::abs(w.at(j, k));
        }
        bounds.at(i, j) *= 2.0 * static_cast<double>(shape.inputs + 2) * kEps<Out>;
        if (pairs && sizeof(E) == 2) {  // 16 sums and a difference rounded to the type, each by half a unit
          constexpr double kUnit = std::is_same_v<E, Float16> ? 1.0 / 1024 : 1.0 / 128;
          for (int64_t k = 0; k < shape.inputs; ++k) {
            bounds.at(i, j) += 17 * 0.5 * kUnit * std::abs(x.at(i, k) - w.at(j, k));
          }
        }
      }
    }
    CheckFloats<E, Out>(backend, request, x, w, 1, &bounds);
  };
  OneIn some(3, GetParam());
  const auto check_some = [&](auto e, auto out) {
    for (const Shape& shape : some.Of(AwkwardAndLargeShapes())) {
      check(shape, e, out);
    }
  };
  check_some(float{}, float{});
  check_some(double{}, double{});
  check_some(BFloat16{}, float{});
  check_some(Float16{}, float{});
}

TEST_P(TypedConformance, ActivationsOfBytes) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  const Shape shape{27, 53, 100};
  const Dense dx = Between(shape.batch, shape.inputs, 1, 0, 255);
  const Dense dw = Between(shape.outputs, shape.inputs, 2, 0, 255);
  Guarded<uint8_t> x(dx, 3), w(dw, 0);
  const Dense dz = oracle::Forward(oracle::Synapse("l1"), dx, dw, {}).value;
  for (const char* activation : {"triangle(radius=4000)", "gaussian(radius=6000)", "softmax", "relu"}) {
    const auto layer =
        backend->Prepare({{shape.inputs, shape.outputs, Synapse::kL1, activation, false}, DType::kU8, shape.batch});
    Guarded<float> a(shape.batch, shape.outputs, 1), z = a;
    ForwardArgs args{x.view(), w.view(), nullptr, a.view(), z.view()};
    layer->Forward(args);
    EXPECT_TRUE(MatchesOracle<float>(z.view(), dz));
    Dense want = dz;
    Dense bounds(want.rows, want.cols, 4 * kEps<float>);
    const Activation curve(activation);
    if (curve.is_softmax()) {
      want = oracle::Softmax(dz);
    }
    for (size_t i = 0; i < want.values.size(); ++i) {
      want.values[i] = curve.is_softmax() ? want.values[i] : CurveOf(curve).Value(dz.values[i]);
    }
    EXPECT_TRUE(MatchesOracle<float>(a.view(), want, &bounds)) << activation;
  }
}

template <class E, class Out>
void CheckSlices(const Chosen& backend, LayerPlanRequest request, const Dense& dx, const Dense& dw) {
  SCOPED_TRACE(testing::Message() << DTypeName(request.dtype) << " " << SynapseName(request.layer.synapse) << " "
                                  << dx.rows << "x" << dw.rows << "x" << dx.cols);
  request.any_slicing = true;
  Guarded<E> x(dx, 0), w(dw, 0);
  Guarded<Out> whole(dx.rows, dw.rows, 0);
  backend->Prepare(request)->Forward({x.view(), w.view(), nullptr, whole.view()});
  for (const auto& [samples, neurons] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1000}, {1000, 1}, {7, 5}, {13, 24}, {48, 64}}) {
    Guarded<Out> parts(dx.rows, dw.rows, 0);
    for (int64_t i = 0; i < dx.rows; i += samples) {
      for (int64_t j = 0; j < dw.rows; j += neurons) {
        const int64_t rows = std::min(samples, dx.rows - i);
        const int64_t cols = std::min(neurons, dw.rows - j);
        LayerPlanRequest part = request;
        part.max_batch = rows;
        part.layer.outputs = cols;
        MatrixView to = parts.view().Rows(i, rows);
        to.data = static_cast<Out*>(to.data) + j;
        to.cols = cols;
        backend->Prepare(part)->Forward({x.view().Rows(i, rows), w.view().Rows(j, cols), nullptr, to});
      }
    }
    EXPECT_EQ(std::memcmp(parts.bytes().data(), whole.bytes().data(), whole.bytes().size() * sizeof(Out)), 0)
        << samples << " x " << neurons;
  }
}

TEST_P(TypedConformance, TheSameBitsForEverySlicing) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  const bool emulated = GetParam().backend == kEmulatedCuda;  // a hundred times slower
  for (const Shape& shape :
       emulated ? std::vector<Shape>{{9, 29, 270}} : std::vector<Shape>{{17, 61, 1100}, {50, 29, 70}}) {
    for (const Synapse synapse : Synapses()) {
      for (const Precision precision : {Precision::kExact, Precision::kFast, Precision::kBFloat16x3}) {
        if (precision == Precision::kBFloat16x3 && synapse != Synapse::kDot) {
          continue;  // distances are computed exactly then, which was tried
        }
        const auto check = [&]<class E, class Out>(E, Out) {
          LayerPlanRequest request{{shape.inputs, shape.outputs, synapse, "tanh", false}, DTypeOf<E>(), shape.batch};
          request.precision = precision;
          CheckSlices<E, Out>(backend, request, RealsOf<E>(shape.batch, shape.inputs, 1),
                              RealsOf<E>(shape.outputs, shape.inputs, 2));
        };
        check(float{}, float{});
        check(double{}, double{});
        check(BFloat16{}, float{});
        check(Float16{}, float{});
      }
    }
  }
}

TEST_P(TypedConformance, SaysWhatItCannotDo) {
  const Chosen backend(GetParam());
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kU8, DType::kI8, DType::kI16, DType::kI32, DType::kI64}) {
    const LayerSpec layer{8, 8, Synapse::kDot, "tanh", false};
    const Verdict forward = backend->Supports({layer, Pass::kForward, 4, dtype});
    EXPECT_EQ(static_cast<bool>(forward), Computes()) << forward.reason;
    for (const Pass pass : {Pass::kInputGradient, Pass::kWeightGradient}) {
      const Verdict verdict = backend->Supports({layer, pass, 4, dtype});
      EXPECT_FALSE(verdict);
      EXPECT_FALSE(verdict.reason.empty());
    }
    EXPECT_THROW(backend->Prepare({layer, dtype, 4, /*training=*/true}), Error);
  }
}

TEST_P(TypedConformance, SumsThatMayNotFitAreRefused) {
  if (!Computes()) {
    GTEST_SKIP() << "computes in f32 and f64";
  }
  const Chosen backend(GetParam());
  const auto prepare = [&](DType dtype, Synapse synapse, int64_t inputs, double largest) {
    LayerPlanRequest request{{inputs, 2, synapse, "identity", false}, dtype, 2};
    request.largest_x = request.largest_w = largest;
    return backend->Prepare(request);
  };
  EXPECT_TRUE(prepare(DType::kU8, Synapse::kDot, 33025, -1));
  EXPECT_TRUE(prepare(DType::kI8, Synapse::kDot, 131071, -1));
  EXPECT_TRUE(prepare(DType::kI16, Synapse::kL2Squared, 1 << 20, -1));
  EXPECT_TRUE(prepare(DType::kI32, Synapse::kL1, 1 << 20, -1));
  EXPECT_TRUE(prepare(DType::kI64, Synapse::kDot, 1000, 1e6));
  for (const auto& [dtype, synapse, inputs] :
       std::vector<std::tuple<DType, Synapse, int64_t>>{{DType::kU8, Synapse::kDot, 33026},
                                                        {DType::kI8, Synapse::kDot, 131072},
                                                        {DType::kU8, Synapse::kL2Squared, 33026},
                                                        {DType::kI32, Synapse::kDot, 2},
                                                        {DType::kI64, Synapse::kL1, 1}}) {
    const Error error = CaughtError([&] { prepare(dtype, synapse, inputs, -1); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find(std::to_string(inputs)), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, TypedConformance,
                         testing::ValuesIn(ConfigurationsWithAmx([](const Configuration&) { return true; })),
                         [](const auto& info) { return info.param.Name(); });

}  // namespace
}  // namespace lamina::conformance
