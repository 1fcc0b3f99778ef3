// Trained radii: the two operations of every backend against plain loops in double, the updates, the smallest radius,
// and training and prediction through the executor. Gradients inside networks: gradient_test.cc.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/layer/layer.h"
#include "lamina/nn/executor.h"
#include "tests/caught_error.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

struct Shape {
  int64_t rows;
  int64_t cols;
};

// Around the columns of a thread's share; the last one runs on all threads.
constexpr Shape kShapes[] = {{1, 1}, {3, 63}, {5, 64}, {2, 65}, {0, 7}, {33, 257}, {130, 257}};

double Curve(const Activation& activation, double u) {
  return activation.name() == "triangle" ? std::max(0.0, 1 - u / 2.5066) : std::exp(-u * u / 2);
}

struct Operands {
  Operands(Shape shape, DType dtype)
      : distance(RandomMatrix(shape.rows, shape.cols, dtype, 1, 0, 9)),
        delta(RandomMatrix(shape.rows, shape.cols, dtype, 2)),
        radii(RandomMatrix(1, shape.cols, dtype, 3, 0.5, 4)),
        u(shape.rows, shape.cols, dtype),
        a(shape.rows, shape.cols, dtype),
        gradient(1, shape.cols, dtype) {}
  Matrix distance, delta, radii, u, a, gradient;
};

template <class T>
void CheckOperations(const Backend& backend, Shape shape, const Activation& activation) {
  SCOPED_TRACE(fmt::format("{} {} {} x {}", backend.name(), activation.Text(), shape.rows, shape.cols));
  constexpr DType kType = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  constexpr double kEps = std::numeric_limits<T>::epsilon();
  Operands given(shape, kType);
  Operands got(shape, kType);
  backend.elementwise().RadiusForward({got.distance.view(), got.radii.data(), &activation, got.u.view(), got.a.view()});
  Matrix in_place = std::move(Operands(shape, kType).distance);
  backend.elementwise().RadiusForward({in_place.view(), got.radii.data(), &activation, {}, in_place.view()});
  backend.elementwise().RadiusBackward(
      {got.u.view(), got.delta.view(), {got.radii.data(), got.gradient.data()}, nullptr, 0});
  for (int64_t j = 0; j < shape.cols; ++j) {
    const double radius = given.radii.Row<T>(0)[j];
    double gradient = 0;
    double magnitude = 0;
    for (int64_t i = 0; i < shape.rows; ++i) {
      const double u = given.distance.Row<T>(i)[j] / radius;
      const double delta = given.delta.Row<T>(i)[j] / radius;
      ASSERT_NEAR(got.u.Row<T>(i)[j], u, 2 * kEps * u);
      ASSERT_NEAR(got.a.Row<T>(i)[j], Curve(activation, u), 8 * kEps * (1 + u * u));
      ASSERT_EQ(in_place.Row<T>(i)[j], got.a.Row<T>(i)[j]);
      ASSERT_NEAR(got.delta.Row<T>(i)[j], delta, 2 * kEps * std::abs(delta));
      gradient -= delta * u;
      magnitude += std::abs(delta * u);
    }
    ASSERT_NEAR(got.gradient.Row<T>(0)[j], gradient, 4 * kEps * static_cast<double>(shape.rows) * magnitude);
    ASSERT_EQ(got.radii.Row<T>(0)[j], given.radii.Row<T>(0)[j]) << "no rule, no change";
  }
}

TEST(TrainedRadius, OperationsOfEveryBackend) {
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      for (const Shape shape : kShapes) {
        for (const char* activation : {"triangle", "gaussian"}) {
          CheckOperations<float>(*backend, shape, activation);
          CheckOperations<double>(*backend, shape, activation);
        }
      }
    }
  }
}

TEST(TrainedRadius, UpdatesFollowTheRulesWithoutDecay) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
    for (UpdateRule rule : ReferenceRules()) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), ReferenceRuleName(rule)));
      const Shape shape{33, 257};
      Operands given(shape, DType::kF64);
      Matrix state0(1, shape.cols, DType::kF64);
      Matrix state1(1, shape.cols, DType::kF64);
      std::vector<ReferenceParameter> reference(static_cast<size_t>(shape.cols));
      for (int64_t j = 0; j < shape.cols; ++j) {
        reference[static_cast<size_t>(j)].w = given.radii.Row<double>(0)[j];
      }
      const ParameterArrays arrays{
          given.radii.data(),
          given.gradient.data(),
          {rule.StateCount() > 0 ? state0.data() : nullptr, rule.StateCount() > 1 ? state1.data() : nullptr}};
      for (rule.step = 1; rule.step <= 3; ++rule.step) {
        Matrix delta = std::move(Operands(shape, DType::kF64).delta);
        std::vector<double> gradient(static_cast<size_t>(shape.cols));
        for (int64_t i = 0; i < shape.rows; ++i) {
          for (int64_t j = 0; j < shape.cols; ++j) {
            gradient[static_cast<size_t>(j)] -=
                delta.Row<double>(i)[j] * given.distance.Row<double>(i)[j] / reference[static_cast<size_t>(j)].w;
          }
        }
        backend->elementwise().RadiusBackward({given.distance.view(), delta.view(), arrays, &rule, 1e-6});
        for (int64_t j = 0; j < shape.cols; ++j) {
          ReferenceParameter& expected = reference[static_cast<size_t>(j)];
          expected.Step(rule, /*decay=*/false, gradient[static_cast<size_t>(j)], rule.step);
          expected.w = std::max(expected.w, 1e-6);
          ASSERT_NEAR(given.radii.Row<double>(0)[j], expected.w, 1e-9 * std::max(1.0, expected.w)) << j;
        }
      }
    }
  }
}

// One input, one neuron on a row at its right: growing the output means shrinking the distance, or growing the radius.
TEST(TrainedRadius, StaysAtOrAboveAShareOfItsStart) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    if (backend->name() == "blas") {
      continue;
    }
    Network network(ParseLayers("rbf(radius=2)-radius:1", 1, true), DType::kF64);
    Executor executor(network, *backend, {.max_batch = 1, .training = true});
    const double x[] = {1};
    const double shrink[] = {-50};  // target: far below what the neuron answers
    const UpdateRule rule{.learning_rate = 1};
    LossSums sums;
    executor.Step(ViewOf(x, 1, 1), ViewOf(shrink, 1, 1), nullptr, &rule, &sums);
    executor.StoreParameters(network);
    EXPECT_EQ(*static_cast<const double*>(network.Radii(0)), 2e-3) << backend->name();
    executor.Step(ViewOf(x, 1, 1), ViewOf(shrink, 1, 1), nullptr, &rule, &sums);
    EXPECT_TRUE(std::isfinite(sums.loss));
  }
}

TEST(TrainedRadius, PredictionIsTheForwardPassOfTraining) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const char* text : {"rbf(radius=2)-radius:19,dot-softmax:3", "l2-gaussian-radius:3"}) {
      Network network(ParseLayers(text, 5, true), dtype);
      network.Initialize(Initialization::kGlorotNormal, 3);
      DispatchFloat(dtype, [&]<class T>(T) { static_cast<T*>(network.Radii(0))[1] = T(0.6); });
      const Matrix x = RandomMatrix(23, 5, dtype, 1);
      for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
        if (backend->name() == "blas") {
          continue;
        }
        Matrix predicted(23, 3, dtype);
        Executor(network, *backend, {.max_batch = 23}).Predict(x.view(), predicted.view());
        Executor trainer(network, *backend, {.max_batch = 23, .training = true});
        const ConstMatrixView trained = trainer.Forward(x.view());
        DispatchFloat(dtype, [&]<class T>(T) {
          for (int64_t i = 0; i < 23 * 3; ++i) {
            EXPECT_NEAR(predicted.Row<T>(0)[i], trained.Row<T>(0)[i], 1e-6);
          }
        });
      }
    }
  }
}

TEST(TrainedRadius, OfASingleLayerIsRefused) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu");
  LayerSpec spec = ParseNeuron("rbf-radius");
  spec.inputs = 3;
  spec.outputs = 4;
  const Error error = CaughtError([&] { Layer(spec, *backend, 8); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(Mentions(error.what(), "network"));
}

}  // namespace
}  // namespace lamina
