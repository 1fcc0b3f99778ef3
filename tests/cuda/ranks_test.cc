// Sums over ranks whose gradients are on GPUs: the same bits for any number of ranks, by NCCL and through the host.
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/array_math.h"
#include "lamina/backend/device_exchange.h"
#include "lamina/cluster/rank_memory.h"
#include "lamina/cluster/thread_ranks.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

std::string BytesOf(const void* data, int64_t size_bytes) {
  return {static_cast<const char*>(data), static_cast<size_t>(size_bytes)};
}

// The results of each operation on the device and on the host.
template <class T>
void ExpectSameArithmetic(const Backend& backend, int64_t count) {
  const std::unique_ptr<ArrayMath> device = backend.MakeArrayMath();
  HostArrayMath host(1);
  const int64_t size_bytes = count * static_cast<int64_t>(sizeof(T));
  const Matrix from = RandomMatrix(1, count, DTypeOf<T>(), 1);
  const Matrix to = RandomMatrix(1, count, DTypeOf<T>(), 2);
  const std::unique_ptr<Buffer> device_from = backend.Allocate(size_bytes);
  const std::unique_ptr<Buffer> device_to = backend.Allocate(size_bytes);
  const std::unique_ptr<Buffer> device_halves = backend.Allocate(2 * count);
  backend.Upload(device_from->data(), from.data(), size_bytes);
  std::vector<BFloat16> halves(static_cast<size_t>(count));
  const auto expect_same = [&](const char* what, const auto& on) {
    Matrix expected(1, count, DTypeOf<T>());
    std::memcpy(expected.data(), to.data(), static_cast<size_t>(size_bytes));
    backend.Upload(device_to->data(), to.data(), size_bytes);
    on(host, static_cast<T*>(expected.data()), static_cast<const T*>(from.data()), halves.data());
    on(*device, static_cast<T*>(device_to->data()), static_cast<const T*>(device_from->data()),
       static_cast<BFloat16*>(device_halves->data()));
    std::string got(static_cast<size_t>(size_bytes), '\0');
    backend.Download(got.data(), device_to->data(), size_bytes);
    EXPECT_TRUE(got == BytesOf(expected.data(), size_bytes)) << what << " of " << count;
  };
  const T factor = static_cast<T>(1) / 3;
  expect_same("scale", [&](ArrayMath& math, T* a, const T* b, BFloat16*) { math.Scale(a, b, factor, count); });
  expect_same("scale in place", [&](ArrayMath& math, T* a, const T*, BFloat16*) { math.Scale(a, a, factor, count); });
  expect_same("add scaled", [&](ArrayMath& math, T* a, const T* b, BFloat16*) { math.AddScaled(a, b, factor, count); });
  expect_same("add", [&](ArrayMath& math, T* a, const T* b, BFloat16*) { math.Add(a, b, count); });
  expect_same("bf16", [&](ArrayMath& math, T* a, const T* b, BFloat16* half) {
    math.ToBFloat16(half, b, count);
    math.FromBFloat16(a, half, count);
  });
}

TEST(Cuda, ArithmeticOfArraysHasTheBitsOfTheHost) {
  for (const unsigned late : {0U, 7U}) {
    cuda_emulated::SetLateQueues(late);
    const std::unique_ptr<Backend> backend = conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
    cuda_emulated::SetLateQueues(0);
    for (const int64_t count : {0, 1, 255, 257, 3000}) {
      ExpectSameArithmetic<float>(*backend, count);
      ExpectSameArithmetic<double>(*backend, count);
    }
  }
}

// Ranks as threads, an emulated GPU each.
class RanksOnGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_emulated::Compiled()) {
      GTEST_SKIP() << "this suite goes without the emulated GPU";
    }
  }
  void TearDown() override {
    cuda_emulated::SetEmulatedNccl(true);
    cuda_emulated::SetLateQueues(0);
  }

  struct Ended {
    std::string weights;
    std::vector<double> losses;
    std::string exchanged_by;
    bool operator==(const Ended& other) const { return weights == other.weights && losses == other.losses; }
  };

  static TrainOptions OptionsOfShards() {
    TrainOptions options;
    options.epochs = 2;
    options.batch = 40;  // of 130 rows: the last batch has 10
    options.shards = 8;
    options.rule.kind = UpdateKind::kAdam;
    options.rule.learning_rate = 0.01;
    return options;
  }

  // What every one of so many ranks ends with. `gpus`: of the host.
  static Ended TrainOn(int size, const TrainOptions& options, DType dtype = DType::kF32, int gpus = 4) {
    const Dataset train = RandomDataset(130, 9, 3, dtype, 4);
    const Network start = NetworkFor(train, 12, "softmax");
    std::mutex mutex;
    std::vector<Ended> all;
    RunRanks(size, [&](Communicator& ranks) {
      const std::unique_ptr<Backend> backend = cuda_emulated::MakeBackend({.device = ranks.rank() % gpus});
      Network network = start;
      Trainer trainer(network, *backend, options, &ranks);
      const History history = trainer.Run(train, nullptr, {});
      Ended ended{WeightBytes(network), {}, trainer.exchanged_by()};
      for (const EpochRecord& epoch : history.epochs) {
        ended.losses.insert(ended.losses.end(), {epoch.train_loss, epoch.train_accuracy});
      }
      const std::lock_guard lock(mutex);
      all.push_back(std::move(ended));
    });
    for (const Ended& ended : all) {
      EXPECT_TRUE(ended == all[0]);
    }
    return all[0];
  }
};

TEST_F(RanksOnGpus, AnyNumberGivesTheSameBits) {
  struct Case {
    const char* name;
    TrainOptions options;
    DType dtype = DType::kF32;
  };
  std::vector<Case> cases{{"adam", OptionsOfShards()},
                          {"f64", OptionsOfShards(), DType::kF64},
                          {"clipped", OptionsOfShards()},
                          {"in_order", OptionsOfShards()},
                          {"rates_of_steps", OptionsOfShards()}};
  cases[2].options.step.clip_norm = 0.05;
  cases[3].options.shuffle = false;
  cases[4].options.schedule.kind = ScheduleKind::kOneCycle;
  for (const Case& each : cases) {
    const Ended alone = TrainOn(1, each.options, each.dtype);
    EXPECT_EQ(alone.exchanged_by, "host memory") << "nothing is exchanged";
    for (const int size : {2, 3, 4}) {
      const Ended together = TrainOn(size, each.options, each.dtype);
      EXPECT_EQ(together.exchanged_by, "NCCL emulated");
      EXPECT_TRUE(together == alone) << each.name << " on " << size;
    }
    cuda_emulated::SetLateQueues(7);
    EXPECT_TRUE(TrainOn(3, each.options, each.dtype) == alone) << each.name << " with late queues";
    cuda_emulated::SetLateQueues(0);
    cuda_emulated::SetEmulatedNccl(false);
    const Ended through_host = TrainOn(3, each.options, each.dtype);
    cuda_emulated::SetEmulatedNccl(true);
    EXPECT_EQ(through_host.exchanged_by, "host memory: no NCCL on rank 0: it is not emulated");
    EXPECT_TRUE(through_host == alone) << each.name << " through the host";
  }
}

TEST_F(RanksOnGpus, LearnWhatTheCpuLearns) {
  const Dataset train = RandomDataset(130, 9, 3, DType::kF32, 4);
  const Network start = NetworkFor(train, 12, "softmax");
  const Trained expected = Train(*MakeBackend("serial", {}), OptionsOfShards(), start, train);
  const Ended got = TrainOn(2, OptionsOfShards());
  for (size_t e = 0; e < expected.history.epochs.size(); ++e) {
    EXPECT_NEAR(got.losses[2 * e], expected.history.epochs[e].train_loss, 1e-4);
    EXPECT_EQ(got.losses[2 * e + 1], expected.history.epochs[e].train_accuracy);
  }
}

TEST_F(RanksOnGpus, HalfTheBytesAreTheSameBitsByBothWays) {
  TrainOptions options = OptionsOfShards();
  const Ended exact = TrainOn(3, options);
  options.gradients_as_bf16 = true;
  const Ended rounded = TrainOn(3, options);
  EXPECT_FALSE(rounded == exact);
  cuda_emulated::SetEmulatedNccl(false);
  EXPECT_TRUE(TrainOn(3, options) == rounded);
}

TEST_F(RanksOnGpus, WhoSharesAGpuExchangesThroughTheHost) {
  const Ended alone = TrainOn(1, OptionsOfShards());
  const Ended shared = TrainOn(3, OptionsOfShards(), DType::kF32, /*gpus=*/2);
  EXPECT_EQ(shared.exchanged_by, "host memory: ranks 0 and 2 share a GPU");
  EXPECT_TRUE(shared == alone);
}

TEST_F(RanksOnGpus, ARankThatDoesNotComeIsWaitedForOnlySoLong) {
  const Error error = CaughtError([&] {
    RunRanks(2, [&](Communicator& ranks) {
      const std::unique_ptr<Backend> backend = cuda_emulated::MakeBackend({.device = ranks.rank()});
      ranks.set_patience_seconds(0.3);
      RankMemory memory(&ranks, *backend);
      ranks.set_patience_seconds(60);
      ranks.SetPlace(2, 17);
      const std::unique_ptr<Buffer> buffer = memory.Allocate(64);
      if (ranks.rank() == 0) {
        std::array<SentPart, 2> to{{{}, {buffer->data(), 64}}};
        std::array<ReceivedPart, 2> from{{{}, {buffer->data(), 64}}};
        memory.AllToAll(to, from);
        backend->Synchronize();
      }
      ranks.Barrier();  // where rank 1 waits meanwhile
    });
  });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  for (const char* part : {"the GPUs of other ranks have not answered rank 0 for 0.3 s", "in epoch 2, step 17"}) {
    EXPECT_TRUE(Mentions(error.what(), part)) << error.what();
  }
}

}  // namespace
}  // namespace lamina
