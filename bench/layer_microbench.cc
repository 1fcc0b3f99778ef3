// GFLOP/s (dot layers) or 10^9 synapses/s (distances) of one layer pass, for the cpu backend's own kernels and CBLAS in
// one run. Also the layer calls of a 784-1024-10 training step. OMP_NUM_THREADS sets the threads.
// Example: layer_microbench --benchmark_filter=l1.*1024x1024x784 --benchmark_repetitions=5
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
  for (const BackendRow& row : BackendTable()) {
    if (row.name == "blas" && row.available()) {
      ways.push_back({"blas", "blas", "auto"});
    }
  }
  return ways;
}

Matrix RandomMatrix(int64_t rows, int64_t cols, double scale, DType dtype) {
  Random random(1);
  Matrix m(rows, cols, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows * cols; ++i) {
      m.Row<T>(0)[i] = static_cast<T>(random.Uniform(-scale, scale));
    }
  });
  return m;
}

// One layer with everything its three passes touch.
struct LayerData {
  LayerData(const Backend& backend, const LayerSpec& spec, int64_t batch, DType dtype)
      : layer(backend.Prepare({spec, dtype, batch, true})),
        x(RandomMatrix(batch, spec.inputs, 1, dtype)),
        w(RandomMatrix(spec.outputs, spec.inputs, 0.05, dtype)),
        bias(RandomMatrix(1, spec.outputs, 1, dtype)),
        a(batch, spec.outputs, dtype),
        distance(batch, SynapseNeedsDistance(spec.synapse) ? spec.outputs : 0, dtype),
        delta(RandomMatrix(batch, spec.outputs, 1e-6, dtype)),
        dx(batch, spec.inputs, dtype),
        w_gradient(spec.outputs, spec.inputs, dtype),
        bias_gradient(1, spec.outputs, dtype),
        has_bias(spec.bias) {}

  void Forward(const Matrix& input) {
    layer->Forward({input.view(), w.view(), has_bias ? bias.data() : nullptr, a.view(), {}, distance.view()});
  }
  void InputGradient(const Activation* previous, const Matrix& input, Matrix* out) {
    layer->InputGradient({delta.view(), w.view(), input.view(), previous, {}, out->view(), distance.view()});
  }
  void WeightGradient(const Matrix& input) {
    layer->WeightGradient({input.view(),
                           delta.view(),
                           {w.data(), w_gradient.data()},
                           has_bias ? ParameterArrays{bias.data(), bias_gradient.data()} : ParameterArrays{},
                           &rule,
                           distance.view()});
  }

  std::unique_ptr<PreparedLayer> layer;
  Matrix x, w, bias, a, distance, delta, dx, w_gradient, bias_gradient;
  bool has_bias;
  UpdateRule rule{.learning_rate = 1e-6};
};

void RegisterPass(const Way& way, const std::string& text) {
  const Problem problem = Problem::Parse(text);
  benchmark::RegisterBenchmark((text + "/" + way.name).c_str(), [=](benchmark::State& state) {
    const auto backend = MakeBackend(way.backend, {.kernel = way.kernel});
    LayerData data(*backend, problem.layer, problem.batch, problem.dtype);
    data.Forward(data.x);
    for (auto _ : state) {
      if (problem.pass == Pass::kForward) {
        data.Forward(data.x);
      } else if (problem.pass == Pass::kInputGradient) {
        data.InputGradient(nullptr, data.x, &data.dx);
      } else {
        data.WeightGradient(data.x);
      }
    }
    const bool distance = IsDistance(problem.layer.synapse);
    const double synapses = static_cast<double>(problem.batch * problem.layer.weight_count());
    state.counters[distance ? "Gsyn/s" : "GFLOP/s"] =
        benchmark::Counter((distance ? 1e-9 : 2e-9) * synapses, benchmark::Counter::kIsIterationInvariantRate);
  })->UseRealTime();
}

// The layer calls of one step of 784-1024-10; the counter is seconds for 60,000 samples.
void RegisterStep(const Way& way, int64_t batch) {
  benchmark::RegisterBenchmark(fmt::format("step:784-1024-10:{}/{}", batch, way.name).c_str(), [=](benchmark::State&
                                                                                                       state) {
    const auto backend = MakeBackend(way.backend, {.kernel = way.kernel});
    LayerData hidden(*backend, {784, 1024, Synapse::kDot, "sigmoid", true}, batch, DType::kF32);
    LayerData output(*backend, {1024, 10, Synapse::kDot, "sigmoid", true}, batch, DType::kF32);
    const Activation sigmoid("sigmoid");
    for (auto _ : state) {
      hidden.Forward(hidden.x);
      output.Forward(hidden.a);
      output.WeightGradient(hidden.a);
      output.InputGradient(&sigmoid, hidden.a, &hidden.delta);
      hidden.WeightGradient(hidden.x);
    }
    state.counters["s_per_60000"] =
        benchmark::Counter(60000.0 / static_cast<double>(batch),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  })->UseRealTime();
}

void RegisterAll() {
  for (const int64_t batch : {1, 16, 128, 1024}) {
    for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
      for (const Way& way : Ways()) {
        RegisterPass(way, fmt::format("dot-sigmoid:f32:{}:{}x1024x784", PassName(pass), batch));
      }
    }
    for (const Way& way : Ways()) {
      RegisterStep(way, batch);
    }
  }
  for (const char* activation : {"identity", "tanh"}) {
    for (const Way& way : Ways()) {
      RegisterPass(way, fmt::format("dot-{}:f32:forward:1024x1024x784", activation));
    }
  }
  for (const Way& way : Ways()) {
    RegisterPass(way, "dot-tanh:f32:forward:1x4x8");
  }
}

void RegisterDistances() {
  const Way own{"own", "cpu", "own"};
  for (const char* synapse : {"l1", "l2", "l2sq"}) {
    for (const char* dtype : {"f32", "f64"}) {
      for (const char* shape : {"1x1024x784", "16x1024x784", "128x1024x784", "1024x1024x784", "4096x4096x1024"}) {
        for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
          RegisterPass(own,
                       fmt::format("{}-triangle(radius=12)-nobias:{}:{}:{}", synapse, dtype, PassName(pass), shape));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lamina

int main(int argc, char** argv) {
  lamina::RegisterAll();
  lamina::RegisterDistances();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
