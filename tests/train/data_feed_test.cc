// Data sets that are larger than a GPU, here an emulated one with little memory: the bits of training are the same.
#include "lamina/train/data_feed.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/data/encode/sparse_rows.h"
#include "tests/caught_error.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

// A backend of its own: memory and order of work belong to the GPU.
std::unique_ptr<Backend> EmulatedGpu(int64_t memory_bytes, unsigned late_queues = 0) {
  cuda_emulated::SetEmulatedMemory(memory_bytes);
  cuda_emulated::SetLateQueues(late_queues);
  std::unique_ptr<Backend> backend = cuda_emulated::MakeBackend({});
  cuda_emulated::SetEmulatedMemory(cuda_emulated::kEmulatedMemory_bytes);
  cuda_emulated::SetLateQueues(0);
  return backend;
}

constexpr int64_t kSmall_bytes = 350'000;
constexpr int64_t kRows = 5000;

TEST(DataFeed, GivesTheRowsInTheOrderAskedForChunkByChunk) {
  Dataset data = RandomDataset(kRows, 6, 3, DType::kF32, 1);
  data.sample_weights.resize(kRows);
  std::iota(data.sample_weights.begin(), data.sample_weights.end(), 0.0);
  std::vector<int64_t> order(kRows);
  std::iota(order.rbegin(), order.rend(), 0);
  for (const unsigned late : {0U, 2U}) {
    const auto backend = EmulatedGpu(kSmall_bytes, late);
    DataFeed feed(data, *backend, 32);
    ASSERT_TRUE(feed.is_streamed());
    EXPECT_EQ(feed.chunk_samples() % 32, 0);
    EXPECT_LT(feed.chunk_samples(), kRows / 2);
    for (const bool turned : {false, true, false}) {
      feed.SetOrder(turned ? std::span<const int64_t>(order) : std::span<const int64_t>());
      int chunks = 0;
      TrainingSteps work;
      for (int64_t at = 0; at < kRows; at += work.end - work.begin) {
        feed.Load(at, kRows, work);
        ++chunks;
        ASSERT_GT(work.end, work.begin);
        for (int64_t i = work.begin; i < work.end; ++i) {  // the emulated GPU's memory is the host's
          const int64_t sample = at + i - work.begin;
          const int64_t row = turned ? kRows - 1 - sample : sample;
          ASSERT_EQ(work.order[i], i);
          ASSERT_EQ(std::memcmp(work.x.Rows(i, 1).data, data.features.Row<float>(row), 6 * sizeof(float)), 0);
          ASSERT_EQ(std::memcmp(work.targets.Rows(i, 1).data, data.targets.Row<float>(row), 3 * sizeof(float)), 0);
          ASSERT_EQ(static_cast<const float*>(work.sample_weights)[i], static_cast<float>(row));
        }
      }
      EXPECT_EQ(chunks, (kRows + feed.chunk_samples() - 1) / feed.chunk_samples());
    }
  }
}

TEST(DataFeed, PlacesWhatFits) {
  const Dataset data = RandomDataset(100, 6, 3, DType::kF32, 1);
  const auto backend = EmulatedGpu(kSmall_bytes);
  EXPECT_FALSE(DataFeed(data, *backend, 32).is_streamed());
  const auto host = MakeBackend("serial");
  EXPECT_FALSE(DataFeed(data, *host, 32).is_streamed());
  const auto tiny = EmulatedGpu(1000);
  const Error error = CaughtError([&] { DataFeed(data, *tiny, 32); });
  EXPECT_EQ(error.code(), ErrorCode::kResource);
}

TEST(DataFeed, TrainingHasTheSameBitsAsWithAllRowsOnTheDevice) {
  Dataset data = RandomDataset(kRows, 6, 3, DType::kF32, 1);
  const Dataset validation = RandomDataset(1800, 6, 3, DType::kF32, 2);
  const Network start = NetworkFor(data, 5, "softmax");
  TrainOptions options;
  options.epochs = 2;
  options.batch = 96;
  options.rule.momentum = 0.9;
  for (const bool weighted : {false, true}) {
    options.shuffle = !weighted;
    if (weighted) {
      data.sample_weights.resize(kRows);
      std::iota(data.sample_weights.begin(), data.sample_weights.end(), 1.0);
    }
    const auto large = EmulatedGpu(cuda_emulated::kEmulatedMemory_bytes);
    const Trained expected = Train(*large, options, start, data, &validation);
    // Every order of copies and work once; weights travel like rows.
    for (const unsigned late : weighted ? std::vector<unsigned>{3} : std::vector<unsigned>{0, 1, 2, 3}) {
      const auto small = EmulatedGpu(kSmall_bytes, late);
      ASSERT_TRUE(DataFeed(data, *small, options.batch).is_streamed());
      const Trained result = Train(*small, options, start, data, &validation);
      EXPECT_EQ(ParameterBytes(result.network), ParameterBytes(expected.network)) << late;
      for (size_t epoch = 0; epoch < 2; ++epoch) {
        EXPECT_EQ(result.history.epochs[epoch].train_loss, expected.history.epochs[epoch].train_loss);
        EXPECT_EQ(result.history.epochs[epoch].validation_loss, expected.history.epochs[epoch].validation_loss);
      }
    }
  }
}

// Two of a hundred numbers are not zero, in rows that take several windows.
struct SparseAndDense {
  Dataset sparse;
  Dataset dense;
};

SparseAndDense RandomSparse(int64_t rows, int64_t inputs, DType dtype, uint64_t seed) {
  SparseAndDense both{RandomDataset(rows, inputs, 3, dtype, seed), RandomDataset(rows, inputs, 3, dtype, seed)};
  std::vector<int64_t> starts{0};
  std::vector<int32_t> columns;
  std::vector<double> values;
  Random random(seed);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < inputs; ++j) {
        T& number = both.dense.features.Row<T>(i)[j];
        number = random.Below(50) == 0 ? number : T(0);
        if (number != T(0)) {
          columns.push_back(static_cast<int32_t>(j));
          values.push_back(static_cast<double>(number));
        }
      }
      starts.push_back(std::ssize(columns));
    }
  });
  both.sparse.features = {};
  both.sparse.sparse = std::make_shared<SparseRows>(CompressedRows{starts, columns, values.data(), DType::kF64, inputs},
                                                    std::vector<double>{}, std::vector<double>{}, dtype);
  return both;
}

TEST(DataFeed, SparseRowsTrainToTheBitsOfDenseOnes) {
  TrainOptions options;
  options.epochs = 2;
  options.batch = 96;
  {  // in two windows, with zeros left out of the products
    const SparseAndDense train = RandomSparse(600, 40'000, DType::kF32, 1);
    const SparseAndDense validation = RandomSparse(90, 40'000, DType::kF32, 2);
    const Network start = NetworkFor(train.dense, 64, "softmax");
    const auto cpu = MakeBackend("cpu", {.threads = 2});
    ASSERT_TRUE(DataFeed(train.sparse, *cpu, options.batch).is_streamed());
    ASSERT_LT(DataFeed(train.sparse, *cpu, options.batch).chunk_samples(), 600);
    const Trained expected = Train(*cpu, options, start, train.dense, &validation.dense);
    const Trained found = Train(*cpu, options, start, train.sparse, &validation.sparse);
    EXPECT_EQ(WeightBytes(found.network), WeightBytes(expected.network));
    EXPECT_EQ(found.history.epochs[1].train_loss, expected.history.epochs[1].train_loss);
    EXPECT_NEAR(found.history.epochs[1].validation_loss, expected.history.epochs[1].validation_loss, 1e-6);
  }
  const SparseAndDense few = RandomSparse(400, 30, DType::kF64, 3);
  const Network start = NetworkFor(few.dense, 5, "softmax");
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(MakeBackend("serial"));
  backends.push_back(EmulatedGpu(cuda_emulated::kEmulatedMemory_bytes));
  for (const auto& backend : backends) {
    EXPECT_EQ(WeightBytes(Train(*backend, options, start, few.sparse).network),
              WeightBytes(Train(*backend, options, start, few.dense).network));
  }
}

TEST(DataFeed, SparseRowsAreScaledAndChecked) {
  const std::vector<int64_t> starts{0, 2, 2, 3};
  const std::vector<int32_t> columns{0, 2, 1};
  const std::vector<float> values{4, 6, 8};
  const std::vector<double> offsets{0, 1, 2};
  const std::vector<double> scales{2, 1, 4};
  const CompressedRows from{starts, columns, values.data(), DType::kF32, 3};
  const SparseRows rows(from, offsets, scales, DType::kF64);
  std::vector<double> row(3);
  const auto expect = [&](double a, double b, double c) { EXPECT_EQ(row, (std::vector<double>{a, b, c})); };
  rows.Fill(0, row.data());
  expect(2, -1, 1);
  rows.Replace(0, 1, row.data());
  expect(0, -1, -0.5);
  rows.Replace(1, 2, row.data());
  expect(0, 7, -0.5);
  const auto error = [&](CompressedRows wrong) { return CaughtError([&] { SparseRows(wrong, {}, {}, DType::kF32); }); };
  const std::vector<int32_t> doubles{2, 2, 1};
  const std::vector<int32_t> wide{0, 3, 1};
  const std::vector<int64_t> backwards{0, 2, 1, 3};
  const std::vector<double> huge{1, 2, 1e300};
  EXPECT_EQ(error({starts, doubles, values.data(), DType::kF32, 3}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error({starts, wide, values.data(), DType::kF32, 3}).context().value, "3");
  EXPECT_EQ(error({backwards, columns, values.data(), DType::kF32, 3}).code(), ErrorCode::kInvalidArgument);
  const Error far = error({starts, columns, huge.data(), DType::kF64, 3});
  EXPECT_EQ(far.code(), ErrorCode::kBadData);
  EXPECT_NE(std::string(far.what()).find("row 2"), std::string::npos) << far.what();
}

TEST(DataFeed, TrainingGoesOnInTheMiddleOfAChunk) {
  const Dataset data = RandomDataset(kRows, 6, 3, DType::kF32, 1);
  const Network start = NetworkFor(data, 5, "softmax");
  TrainOptions options;
  options.epochs = 2;
  options.batch = 96;
  const auto backend = EmulatedGpu(kSmall_bytes);
  const Trained expected = Train(*backend, options, start, data);
  TrainState state = StateAfter(3, *backend, options, start, data);
  EXPECT_GT(state.step, 0);
  Trained result{start, {}};
  Trainer trainer(result.network, *backend, options);
  trainer.Resume(std::move(state));
  trainer.Run(data, nullptr, {});
  EXPECT_EQ(ParameterBytes(result.network), ParameterBytes(expected.network));
}

}  // namespace
}  // namespace lamina
