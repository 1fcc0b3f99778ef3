// Backend cuda as a whole: suite Cuda on the GPU where there is one, else on its emulation; suite Gpu needs a GPU.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "lamina/layer/sliced_layer.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/measure/layer_benchmark.h"
#include "lamina/measure/train_benchmark.h"
#include "lamina/nn/executor.h"
#include "lamina/tune/pass_run.h"
#include "lamina/tune/tuner.h"
#include "tests/caught_error.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

std::unique_ptr<Backend> CudaBackend() {
  return conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
}

// Copies run beside the work: no order of them that nobody asked for may change a bit.
TEST(Cuda, SlicesOfALayerHaveTheSameBitsWhateverTheOrderOfCopies) {
  const Matrix x = RandomMatrix(310, 21, DType::kF32, 1);
  const Matrix w = RandomMatrix(40, 21, DType::kF32, 2);
  const Matrix bias = RandomMatrix(1, 40, DType::kF32, 3);
  LayerSpec layer = ParseNeuron("dot-tanh");
  layer.inputs = 21;
  layer.outputs = 40;
  std::string expected;
  for (unsigned late = 0; late < 8; ++late) {
    cuda_emulated::SetLateQueues(late);
    const std::unique_ptr<Backend> backend = CudaBackend();
    cuda_emulated::SetLateQueues(0);
    for (const auto& [samples, neurons] : {std::pair<int64_t, int64_t>{310, 40}, {100, 40}, {310, 15}, {101, 17}}) {
      const SlicePlan plan =
          PlanSlices(layer, 310, DType::kF32, {.budget_bytes = 1 << 20, .samples = samples, .neurons = neurons});
      SlicedLayer sliced(layer, *backend, plan, DType::kF32);
      for (int run = 0; run < 2; ++run) {  // the second finds the memory of the first
        MatrixRows x_rows(x.view());
        MatrixRows w_rows(w.view());
        Matrix out(310, 40, DType::kF32);
        int64_t finished = 0;
        ASSERT_TRUE(sliced.Run(x_rows, w_rows, bias.data(),
                               {out.view(), [&](const SlicePiece& piece) { finished += piece.rows; }}));
        EXPECT_EQ(finished, 310 * ((40 + neurons - 1) / neurons));
        const std::string bytes(static_cast<const char*>(out.data()), 310 * 40 * sizeof(float));
        expected = expected.empty() ? bytes : expected;
        EXPECT_TRUE(bytes == expected) << samples << " x " << neurons << ", late " << late;
      }
    }
  }
}

TEST(Cuda, AnErrorInTheMiddleOfSlicesLeavesThemUsable) {
  const std::unique_ptr<Backend> backend = CudaBackend();
  const Matrix x = RandomMatrix(300, 9, DType::kF32, 1);
  const Matrix w = RandomMatrix(20, 9, DType::kF32, 2);
  LayerSpec layer = ParseNeuron("l1-identity");
  layer.inputs = 9;
  layer.outputs = 20;
  SlicedLayer sliced(layer, *backend,
                     PlanSlices(layer, 300, DType::kF32, {.budget_bytes = 1 << 20, .samples = 50, .neurons = 20}),
                     DType::kF32);
  MatrixRows x_rows(x.view());
  MatrixRows w_rows(w.view());
  Matrix out(300, 20, DType::kF32);
  const Error full(ErrorCode::kIo, "the disk is full");
  const auto run = [&](int64_t fails_at) {
    return sliced.Run(x_rows, w_rows, nullptr, {out.view(), [&](const SlicePiece& piece) {
                                                  if (piece.begin == fails_at) {
                                                    throw full;
                                                  }
                                                }});
  };
  EXPECT_EQ(CaughtError([&] { run(100); }).code(), ErrorCode::kIo);
  ASSERT_TRUE(run(-1));
  Matrix again(300, 20, DType::kF32);
  SlicedLayer fresh(layer, *MakeBackend("serial"), PlanSlices(layer, 300, DType::kF32, {.budget_bytes = 1 << 20}),
                    DType::kF32);
  ASSERT_TRUE(fresh.Run(x_rows, w_rows, nullptr, {again.view(), {}}));
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t j = 0; j < 20; ++j) {
      ASSERT_NEAR(out.Row<float>(i)[j], again.Row<float>(i)[j], 1e-4);
    }
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
                           "dot-identity:f32:weight_gradient:17x30x64", "l1-identity:u8:forward:20x30x50",
                           "l1-identity:f16-fast:forward:40x48x64", "l1-identity:bf16-fast:forward:40x48x100",
                           "l2-identity:f32-fast:forward:40x48x64"}) {
    PassRun run(Problem::Parse(text), *backend, 2);
    const PassVerdict verdict = run.Verify();
    EXPECT_TRUE(verdict.verified) << text << ": " << verdict.largest_error << " of " << verdict.error_bound;
    EXPECT_GT(run.SecondsPerCall(0), 0) << text;
  }
}

TEST(Cuda, LimitsAreMeasured) {
  for (const double rate : cuda_emulated::MeasureLimits()) {
    EXPECT_GT(rate, 0);
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

TEST_F(Gpu, HasLimits) {
  EXPECT_GT(MeasureDeviceSynapseLimit({Synapse::kL1, DType::kF32}), 1e10);
  EXPECT_GT(MeasureDeviceBandwidth(), 1e9);
  EXPECT_GE(MeasureDeviceLibraryProduct_seconds(DType::kBF16, Precision::kExact, 512, 512, 512), 0);
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
