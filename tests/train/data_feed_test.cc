// Data sets that are larger than a GPU, here an emulated one with little memory: the bits of training are the same.
#include "lamina/train/data_feed.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
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
