// GFLOP/s of one layer pass for the cpu backend's own kernels, oneDNN and CBLAS in the same run, and the
// layer calls of a 784-1024-10 training step. Example: layer_microbench --benchmark_filter=1024x1024x784
// --benchmark_repetitions=5
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

struct Way {
  std::string name;
  std::string backend;
  std::string kernel;
};

std::vector<Way> Ways() {
  std::vector<Way> ways{{"own", "cpu", "own"}};
  if (!OnednnDescription().empty()) {
    ways.push_back({"onednn", "cpu", "onednn"});
  }
  for (const BackendRow& row : BackendTable()) {
    if (row.name == "blas" && row.available()) {
      ways.push_back({"blas", "blas", "auto"});
    }
  }
  return ways;
}

Matrix RandomMatrix(int64_t rows, int64_t cols, double scale) {
  Random random(1);
  Matrix m(rows, cols, DType::kF32);
  for (int64_t i = 0; i < rows * cols; ++i) {
    m.Row<float>(0)[i] = static_cast<float>(random.Uniform(-scale, scale));
  }
  return m;
}

// One layer with everything its three passes touch.
struct LayerData {
  LayerData(const Backend& backend, int64_t batch, int64_t outputs, int64_t inputs, const char* activation)
      : layer(backend.Prepare({{inputs, outputs, Synapse::kDot, activation, true}, DType::kF32, batch, true})),
        x(RandomMatrix(batch, inputs, 1)),
        w(RandomMatrix(outputs, inputs, 0.05)),
        bias(RandomMatrix(1, outputs, 1)),
        a(batch, outputs, DType::kF32),
        delta(RandomMatrix(batch, outputs, 1e-6)),
        dx(batch, inputs, DType::kF32),
        w_gradient(outputs, inputs, DType::kF32),
        bias_gradient(1, outputs, DType::kF32) {}

  void Forward(const Matrix& input) { layer->Forward({input.view(), w.view(), bias.data(), a.view(), {}}); }
  void InputGradient(const Activation* previous, const Matrix& input, Matrix* out) {
    layer->InputGradient({delta.view(), w.view(), input.view(), previous, {}, out->view()});
  }
  void WeightGradient(const Matrix& input) {
    layer->WeightGradient(
        {input.view(), delta.view(), {w.data(), w_gradient.data()}, {bias.data(), bias_gradient.data()}, &rule});
  }

  std::unique_ptr<PreparedLayer> layer;
  Matrix x, w, bias, a, delta, dx, w_gradient, bias_gradient;
  UpdateRule rule{.learning_rate = 1e-6};
};

void RegisterPass(const Way& way, Pass pass, int64_t batch, int64_t outputs, int64_t inputs, const char* activation) {
  const std::string name =
      fmt::format("dot-{}:f32:{}:{}x{}x{}/{}", activation, PassName(pass), batch, outputs, inputs, way.name);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    const auto backend = MakeBackend(way.backend, {.kernel = way.kernel});
    LayerData data(*backend, batch, outputs, inputs, activation);
    for (auto _ : state) {
      if (pass == Pass::kForward) {
        data.Forward(data.x);
      } else if (pass == Pass::kInputGradient) {
        data.InputGradient(nullptr, data.x, &data.dx);
      } else {
        data.WeightGradient(data.x);
      }
    }
    state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(batch * outputs * inputs),
                                                   benchmark::Counter::kIsIterationInvariantRate);
  })->UseRealTime();
}

// The layer calls of one step of 784-1024-10; the counter is seconds for 60,000 samples.
void RegisterStep(const Way& way, int64_t batch) {
  benchmark::RegisterBenchmark(fmt::format("step:784-1024-10:{}/{}", batch, way.name).c_str(),
                               [=](benchmark::State& state) {
                                 const auto backend = MakeBackend(way.backend, {.kernel = way.kernel});
                                 LayerData hidden(*backend, batch, 1024, 784, "sigmoid");
                                 LayerData output(*backend, batch, 10, 1024, "sigmoid");
                                 const Activation sigmoid("sigmoid");
                                 for (auto _ : state) {
                                   hidden.Forward(hidden.x);
                                   output.Forward(hidden.a);
                                   output.WeightGradient(hidden.a);
                                   output.InputGradient(&sigmoid, hidden.a, &hidden.delta);
                                   hidden.WeightGradient(hidden.x);
                                 }
                                 state.counters["s_per_60000"] = benchmark::Counter(
                                     60000.0 / static_cast<double>(batch),
                                     benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
                               })
      ->UseRealTime();
}

void RegisterAll() {
  for (const int64_t batch : {1, 16, 128, 1024}) {
    for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
      for (const Way& way : Ways()) {
        RegisterPass(way, pass, batch, 1024, 784, "sigmoid");
      }
    }
    for (const Way& way : Ways()) {
      RegisterStep(way, batch);
    }
  }
  for (const char* activation : {"identity", "tanh"}) {
    for (const Way& way : Ways()) {
      RegisterPass(way, Pass::kForward, 1024, 1024, 784, activation);
    }
  }
  for (const Way& way : Ways()) {
    RegisterPass(way, Pass::kForward, 1, 4, 8, "tanh");
  }
}

}  // namespace
}  // namespace lamina

int main(int argc, char** argv) {
  lamina::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
