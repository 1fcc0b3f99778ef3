// The training benchmark: right results are verified, wrong ones are not, and the counts of work are right.
#include "lamina/measure/train_benchmark.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/tune/pass_run.h"
#include "tests/caught_error.h"
#include "tests/source_folder.h"

namespace lamina {
namespace {

TEST(TrainFlopsPerSample, FourForTheFirstLayerSixForTheOthers) {
  EXPECT_EQ(TrainFlopsPerSample({3, 2}), 4 * 6);
  EXPECT_EQ(TrainFlopsPerSample({784, 1024, 10}), 4.0 * 784 * 1024 + 6.0 * 1024 * 10);
  EXPECT_EQ(TrainFlopsPerSample({2, 3, 4, 5}), 4 * 6 + 6 * 12 + 6 * 20);
  EXPECT_GT(TrainFlopsPerSample({100'000, 100'000}), 3e10) << "no overflow";
}

TEST(LargestRelativeError, SeesPlantedErrors) {
  const std::vector<double> expected{1, -4, 0.5, 2};
  EXPECT_EQ(LargestRelativeError(expected, expected), 0);
  for (size_t i = 0; i < expected.size(); ++i) {
    std::vector<double> got = expected;
    got[i] += 1e-6;
    EXPECT_NEAR(LargestRelativeError(expected, got), 0.25e-6, 1e-12);
    got[i] = -expected[i];
    EXPECT_DOUBLE_EQ(LargestRelativeError(expected, got), 2 * std::abs(expected[i]) / 4);
    for (const double bad : std::vector<double>{NAN, INFINITY, -INFINITY}) {
      got[i] = bad;
      EXPECT_TRUE(std::isnan(LargestRelativeError(expected, got)));
      EXPECT_TRUE(std::isnan(LargestRelativeError(got, expected)));
      EXPECT_TRUE(std::isnan(LargestRelativeError(got, got)));
    }
  }
  EXPECT_TRUE(std::isnan(LargestRelativeError(expected, {})));
  EXPECT_TRUE(std::isnan(LargestRelativeError({}, expected)));
  EXPECT_EQ(LargestRelativeError({}, {}), 0);
  EXPECT_EQ(LargestRelativeError(std::vector<double>{0}, std::vector<double>{1}),
            std::numeric_limits<double>::infinity());
}

TEST(BenchmarkTraining, EveryBackendIsVerified) {
  for (const BackendRow& row : BackendTable()) {
    if (!row.available()) {
      continue;
    }
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      TrainBenchmarkCase work;
      work.shape = {13, 21, 5};
      work.batch = 19;
      work.backend = row.name;
      work.threads = 2;
      work.dtype = dtype;
      work.momentum = 0.5;
      const TrainBenchmarkResult result = BenchmarkTraining(work, {.rounds = 3, .round_seconds = 0.002});
      EXPECT_TRUE(result.verified) << row.name << ": " << result.largest_error;
      EXPECT_LE(result.largest_error, result.error_bound);
      EXPECT_LT(result.error_bound, dtype == DType::kF32 ? 1e-5 : 1e-14) << "a bound that nothing passes is none";
      EXPECT_EQ(result.threads, row.name == "serial" ? 1 : 2);
      EXPECT_EQ(result.rounds, 3);
      EXPECT_GT(result.least_seconds, 0);
      EXPECT_LE(result.least_seconds, result.median_seconds);
      EXPECT_LE(result.median_seconds, result.most_seconds);
      EXPECT_NEAR(result.samples_per_second * result.median_seconds, 60'000, 1);
      EXPECT_NEAR(result.gflops, TrainFlopsPerSample(work.shape) * result.samples_per_second * 1e-9, 1e-9);
    }
  }
}

// Inputs of which whole panels are zero, in a layer wide enough that backend cpu leaves them out.
TEST(BenchmarkTraining, GivenInputsAreVerified) {
  auto inputs = std::make_shared<Matrix>(50, 130, DType::kF32);
  for (int64_t i = 0; i < inputs->rows(); ++i) {
    for (int64_t k = 40; k < 80; ++k) {
      inputs->Row<float>(i)[k] = static_cast<float>((i * 31 + k * 17) % 64) / 64;
    }
  }
  for (const BackendRow& row : BackendTable()) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      if (!row.available()) {
        continue;
      }
      TrainBenchmarkCase work;
      work.shape = {130, 96, 5};
      work.batch = 60;  // the rows are taken again after the last
      work.backend = row.name;
      work.dtype = dtype;
      work.inputs = inputs;
      const TrainBenchmarkResult result = BenchmarkTraining(work, {.rounds = 1, .round_seconds = 0});
      EXPECT_TRUE(result.verified) << row.name << ": " << result.largest_error;
      work.inputs = nullptr;
      TrainBenchmarkResult other;
      VerifyTraining(work, TrainReference({.shape = work.shape, .batch = work.batch, .inputs = inputs}), other);
      EXPECT_FALSE(other.verified) << "other inputs make other parameters";
    }
  }
}

TEST(BenchmarkTraining, RefusesInputsThatDoNotFit) {
  TrainBenchmarkCase work;
  work.shape = {8, 4};
  work.inputs = std::make_shared<const Matrix>(10, 7, DType::kF32);
  const Error error = CaughtError([&] { BenchmarkTraining(work, {}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "the data have 7 inputs, the network 8"));
}

TEST(BenchmarkInputs, AreThoseThatTrainWouldTakeInF32) {
  const std::shared_ptr<const Matrix> inputs = BenchmarkInputs(SourceFolder() + "/data/digits.csv.gz");
  EXPECT_EQ(inputs->cols(), 64);
  EXPECT_EQ(inputs->dtype(), DType::kF32);
  EXPECT_GT(inputs->rows(), 1000);
}

// A result in f32 must not pass for one in f64.
TEST(BenchmarkTraining, TheBoundTellsTypesApart) {
  TrainBenchmarkCase work;
  work.shape = {13, 21, 5};
  work.backend = "serial";
  const TrainBenchmarkResult single = BenchmarkTraining(work, {.rounds = 1, .round_seconds = 0});
  work.dtype = DType::kF64;
  const TrainBenchmarkResult twice = BenchmarkTraining(work, {.rounds = 1, .round_seconds = 0});
  EXPECT_GT(single.largest_error, 100 * twice.error_bound);
}

TEST(BenchmarkTraining, Bf16IsVerifiedByItsOwnBound) {
  TrainBenchmarkCase work;
  work.shape = {63, 40, 10};
  work.batch = 32;
  const TrainBenchmarkResult exact = BenchmarkTraining(work, {.rounds = 1, .round_seconds = 0});
  work.precision = Precision::kBFloat16;
  const TrainBenchmarkResult rounded = BenchmarkTraining(work, {.rounds = 1, .round_seconds = 0});
  EXPECT_TRUE(rounded.verified) << rounded.largest_error;
  EXPECT_GT(rounded.largest_error, 1e-5) << "its operands have 8 bits of mantissa";
  EXPECT_LT(exact.largest_error, 1e-5);
}

TEST(BenchmarkTraining, RefusesBatchesLargerThanTheData) {
  TrainBenchmarkCase work;
  work.shape = {8, 4};
  work.batch = kBenchmarkRows + 1;
  const Error error = CaughtError([&] { BenchmarkTraining(work, {}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "60,001"));
}

// No processor of today issues more than two vector multiply-adds a cycle at 6 GHz: chains that the compiler merged
// would be "faster". And anything that does issue them does one every four cycles at 1 GHz.
TEST(SlowFmaPeak, IsPlausible) {
  const std::string target = CpuTargets().front();
  const double bytes = target == "AVX3" ? 64 : (target == "AVX2" ? 32 : 16);
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double lanes = bytes / static_cast<double>(DTypeSize_bytes(dtype));
    const double one = MeasureFmaPeak_gflops(dtype, 1);
    EXPECT_LT(one, 2 * lanes * 2 * 6.0);
    EXPECT_GT(one, target == "SCALAR" ? 0.1 : 2 * lanes * 0.25);
  }
}

}  // namespace
}  // namespace lamina
