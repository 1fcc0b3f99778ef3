// Backend cuda as a whole: suite Cuda on the GPU where there is one, else on its emulation; suite Gpu needs a GPU.
#include <cstring>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/sliced_layer.h"
#include "lamina/report/layer_benchmark.h"
#include "lamina/report/train_benchmark.h"
#include "lamina/tune/pass_run.h"
#include "lamina/tune/tuner.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

std::unique_ptr<Backend> CudaBackend() {
  return conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
}

TEST(Cuda, SlicesOfALayerHaveTheSameBits) {
  const std::unique_ptr<Backend> backend = CudaBackend();
  const Matrix x = RandomMatrix(70, 37, DType::kF32, 1);
  const Matrix w = RandomMatrix(90, 37, DType::kF32, 2);
  LayerSpec layer = ParseNeuron("rbf(radius=9)");
  layer.inputs = 37;
  layer.outputs = 90;
  std::string expected;
  for (const auto& [samples, neurons] : {std::pair<int64_t, int64_t>{70, 90}, {48, 90}, {70, 32}, {33, 17}}) {
    SlicedLayer sliced(
        layer, *backend,
        PlanSlices(layer, 70, DType::kF32, {.budget_bytes = 1 << 20, .samples = samples, .neurons = neurons}),
        DType::kF32);
    MatrixRows x_rows(x.view());
    MatrixRows w_rows(w.view());
    Matrix out(70, 90, DType::kF32);
    ASSERT_TRUE(sliced.Run(x_rows, w_rows, nullptr, {out.view(), {}}));
    const std::string bytes(static_cast<const char*>(out.data()), 70 * 90 * sizeof(float));
    expected = expected.empty() ? bytes : expected;
    EXPECT_TRUE(bytes == expected) << samples << " x " << neurons;
  }
}

TEST(Cuda, FullMemoryIsAnErrorAndNotTheEnd) {
  const std::unique_ptr<Backend> backend = CudaBackend();
  const Error error = CaughtError([&] { backend->Allocate(int64_t{1} << 46); });
  EXPECT_EQ(error.code(), ErrorCode::kResource);
  EXPECT_TRUE(Mentions(error.what(), "memory is full"));
  EXPECT_GT(backend->FreeMemory_bytes(), 0);
  const std::unique_ptr<Buffer> buffer = backend->Allocate(1000);
  std::string zeros(1000, 'x');
  backend->Download(zeros.data(), buffer->data(), 1000);
  EXPECT_EQ(zeros, std::string(1000, '\0'));
}

TEST(Cuda, EveryPassIsVerifiedWhereItsOperandsAre) {
  const std::unique_ptr<Backend> backend = CudaBackend();
  for (const char* text : {"l1-triangle(radius=9):f32:forward:33x41x100", "l1-identity:f32:input_gradient:33x41x100",
                           "l2-gaussian(radius=5):f64:weight_gradient:33x41x100", "dot-tanh:f32:forward:17x30x64",
                           "dot-identity:f32:weight_gradient:17x30x64", "l1-identity:u8:forward:20x30x50"}) {
    PassRun run(Problem::Parse(text), *backend, 2);
    const PassVerdict verdict = run.Verify();
    EXPECT_TRUE(verdict.verified) << text << ": " << verdict.largest_error << " of " << verdict.error_bound;
    EXPECT_GT(run.SecondsPerCall(0), 0) << text;
  }
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    const BackendRow& row = BackendTable().front();
    ASSERT_EQ(row.name, "cuda");
    if (const Verdict verdict = row.available(); !verdict) {
      GTEST_SKIP() << verdict.reason;
    }
  }
};

TEST_F(Gpu, SaysWhatItIs) {
  const std::vector<GpuInfo> gpus = UsableGpus();
  ASSERT_FALSE(gpus.empty());
  EXPECT_GT(gpus[0].multiprocessors, 0);
  EXPECT_GT(gpus[0].memory_bytes, gpus[0].free_bytes / 2);
  EXPECT_TRUE(Mentions(MakeBackend("cuda")->Describe(), gpus[0].name));
}

TEST_F(Gpu, TunedPlansAreVerifiedOnTheDevice) {
  TuneOptions options;
  options.backend = "cuda";
  options.level = TuneLevel::kMeasure;
  const TuneResult result = TuneProblem(Problem::Parse("l1-identity:f32:forward:512x256x784"), options);
  EXPECT_GT(result.measured, 0);
  EXPECT_TRUE(result.wrong.empty());
}

TEST_F(Gpu, BenchmarksOfLayersAndTrainingAreVerified) {
  for (const char* text :
       {"l1-triangle(radius=500):f32:forward:1024x1024x784", "dot-tanh:f32-fast:forward:512x512x512"}) {
    const Problem problem = Problem::Parse(text);
    LayerBenchmarkOptions options;
    options.backend = "cuda";
    const LayerBenchmarkResult result = BenchmarkLayer(problem, options);
    EXPECT_TRUE(result.verified) << text << ": " << result.largest_error;
  }
  TrainBenchmarkCase work;
  work.shape = {784, 128, 10};
  work.batch = 128;
  work.backend = "cuda";
  const TrainBenchmarkResult result = BenchmarkTraining(work, {.rounds = 1, .round_seconds = 0.01});
  EXPECT_TRUE(result.verified) << result.largest_error;
}

}  // namespace
}  // namespace lamina
