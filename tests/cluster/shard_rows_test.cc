// Shards that own the training rows: whose each row is, and when it is taken. Also the same bits for any number of
// ranks that hold their own rows alone.
#include "lamina/cluster/shard_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "lamina/backend/backends.h"
#include "lamina/cluster/sharded_steps.h"
#include "lamina/cluster/thread_ranks.h"
#include "tests/caught_error.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

struct Sizes {
  int64_t rows;
  int64_t batch;
  int64_t shards;
};
constexpr Sizes kSizes[] = {{130, 40, 8}, {130, 20, 13}, {96, 32, 8}, {97, 32, 7},
                            {41, 40, 8},  {8, 100, 8},   {1000, 9, 8}};

std::vector<int64_t> Reversed(int64_t /*shard*/, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  return order;
}

TEST(ShardRows, EachRowIsTakenOnceAnEpochByTheRankThatHasIt) {
  for (const auto& [rows, batch, shards] : kSizes) {
    for (const int64_t ranks : {1, 2, 3, 4, 7}) {
      std::set<int64_t> taken;
      int64_t next = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const ShardRows own(rows, batch, shards, ranks, rank);
        EXPECT_EQ(own.own().begin, next) << "ranks have neighboring ranges";
        next = own.own().end;
        EXPECT_GT(own.own().count(), 0);
        const std::vector<int64_t> order = own.Order(Reversed);
        ASSERT_EQ(std::ssize(order), own.own().count());
        for (const int64_t row : order) {
          EXPECT_TRUE(taken.insert(own.own().begin + row).second) << row;
        }
      }
      EXPECT_EQ(next, rows);
      EXPECT_EQ(std::ssize(taken), rows);
    }
  }
}

// The rows that each shard of each batch takes, by a walk over the samples of all ranks.
std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> TakenBy(const Sizes& sizes, int64_t ranks) {
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> taken;
  const int64_t steps = (sizes.rows + std::min(sizes.batch, sizes.rows) - 1) / std::min(sizes.batch, sizes.rows);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const ShardRows own(sizes.rows, sizes.batch, sizes.shards, ranks, rank);
    const std::vector<int64_t> order = own.Order(Reversed);
    const IndexRange shards = PartOf(sizes.shards, ranks, rank);
    for (int64_t step = 0; step < steps; ++step) {
      const IndexRange whole = own.BatchOf(step);
      for (int64_t shard = shards.begin; shard < shards.end; ++shard) {
        const IndexRange part = PartOf(whole.count(), sizes.shards, shard);
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t row = own.own().begin + order.at(static_cast<size_t>(whole.begin + i));
          EXPECT_GE(row, own.OfShard(shard).begin);
          EXPECT_LT(row, own.OfShard(shard).end);
          taken[{step, shard}].push_back(row);
        }
      }
    }
  }
  return taken;
}

TEST(ShardRows, BatchesDoNotDependOnRanks) {
  for (const Sizes& sizes : kSizes) {
    const auto expected = TakenBy(sizes, 1);
    for (const int64_t ranks : {2, 3, 4, 7}) {
      EXPECT_EQ(TakenBy(sizes, ranks), expected) << sizes.rows << " rows, " << ranks << " ranks";
    }
  }
}

TEST(ShardRows, AShardWithoutRowsIsRefused) {
  for (const Sizes& sizes : {Sizes{100, 7, 8}, Sizes{7, 100, 8}}) {
    const Error error = CaughtError([&] { ShardRows(sizes.rows, sizes.batch, sizes.shards); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    for (const char* part : {"a batch of 7 rows", "8 shards", "--shard-data"}) {
      EXPECT_TRUE(Mentions(error.what(), part));
    }
  }
  EXPECT_TRUE(Mentions(CaughtError([&] { ShardRows(100, 20, 2, 3, 0); }).what(), "3 ranks share 2 shards"));
}

Dataset Part(const Dataset& all, IndexRange rows) {
  Dataset part;
  for (const auto& [from, to] : {std::pair{&all.features, &part.features}, std::pair{&all.targets, &part.targets}}) {
    *to = Matrix(rows.count(), from->cols(), from->dtype());
    const int64_t row_bytes = from->cols() * DTypeSize_bytes(from->dtype());
    std::memcpy(to->data(), static_cast<const char*>(from->data()) + rows.begin * row_bytes,
                static_cast<size_t>(rows.count() * row_bytes));
  }
  part.labels.assign(all.labels.begin() + rows.begin, all.labels.begin() + rows.end);
  if (!all.sample_weights.empty()) {
    part.sample_weights.assign(all.sample_weights.begin() + rows.begin, all.sample_weights.begin() + rows.end);
  }
  return part;
}

constexpr int64_t kRows = 130;

struct OwnedRowsCase {
  const char* name;
  TrainOptions options;
  bool weighted = false;
  int64_t hidden = 20;
};

std::vector<OwnedRowsCase> OwnedRowsCases() {
  TrainOptions options;
  options.epochs = 3;
  options.batch = 40;  // the last batch has 10 rows
  options.shards = 8;
  options.sharded_rows = kRows;
  options.rule.kind = UpdateKind::kAdam;
  options.rule.learning_rate = 0.01;
  std::vector<OwnedRowsCase> recipes{{"adam", options},     {"weighted", options, true},
                                     {"odd", options},      {"windows", options},
                                     {"in_order", options}, {"fewer_rows_than_shards", options},
                                     {"in_parts", options}, {"few_rows_in_parts", options}};
  recipes[2].options.shards = 7;
  recipes[3].options.window_rows = 40;
  recipes[4].options.shuffle = false;
  recipes[5].options.batch = 16;  // the last batch has two rows: most shards none
  recipes[7].options.batch = 16;
  for (const size_t i : {6, 7}) {
    recipes[i].hidden = 8192;  // gradients travel in parts
    recipes[i].options.epochs = 2;
  }
  return recipes;
}

class OwnedRows : public testing::TestWithParam<OwnedRowsCase> {
 protected:
  OwnedRows()
      : train_(RandomDataset(kRows, 60, 3, DType::kF32, 4)),
        validation_(RandomDataset(600, 60, 3, DType::kF32, 5)),
        start_(NetworkFor(train_, GetParam().hidden, "softmax")) {
    for (int64_t i = 0; GetParam().weighted && i < kRows; ++i) {
      train_.sample_weights.push_back(0.5 + static_cast<double>(i % 3));
    }
  }

  // Each rank has a data set of its own rows.
  template <class Run>
  void OnRanks(int size, const TrainOptions& options, Run run) const {
    RunRanks(size, [&](Communicator& ranks) {
      const auto backend = MakeBackend("cpu", {.threads = 1});
      const Dataset own =
          Part(train_, ShardRows(kRows, options.batch, options.shards, ranks.size(), ranks.rank()).own());
      Network network = start_;
      Trainer trainer(network, *backend, options, &ranks);
      run(ranks, trainer, own);
      const std::lock_guard lock(mutex_);
      networks_.push_back(WeightBytes(network));
    });
  }
  std::string NetworkOf(int size, const TrainOptions& options, std::vector<double>* losses = nullptr) const {
    networks_.clear();
    OnRanks(size, options, [&](Communicator& ranks, Trainer& trainer, const Dataset& own) {
      const History& history = trainer.Run(own, &validation_, {});
      if (ranks.is_first() && losses != nullptr) {
        *losses = LossesOf(history);
      }
    });
    for (const std::string& network : networks_) {
      EXPECT_EQ(network, networks_.front());
    }
    return networks_.front();
  }

  Dataset train_;
  Dataset validation_;
  Network start_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> networks_;
};
INSTANTIATE_TEST_SUITE_P(, OwnedRows, testing::ValuesIn(OwnedRowsCases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(OwnedRows, AnyNumberOfRanksGivesTheSameBits) {
  const auto backend = MakeBackend("cpu", {.threads = 1});
  const Trained alone = Train(*backend, GetParam().options, start_, train_, &validation_);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    std::vector<double> losses;
    EXPECT_EQ(NetworkOf(ranks, GetParam().options, &losses), WeightBytes(alone.network)) << ranks;
    EXPECT_EQ(losses, LossesOf(alone.history)) << ranks;
  }
}

// With all rows in one batch the gradient is that of all rows, whoever owns them.
TEST_P(OwnedRows, AStepOnAllRowsIsThatOfGradientDescent) {
  const auto backend = MakeBackend("serial", {});
  TrainOptions options = GetParam().options;
  options.batch = kRows;
  options.window_rows = 0;
  options.epochs = 2;
  const Trained owned = Train(*backend, options, start_, train_, &validation_);
  options.shards = 0;
  options.sharded_rows = 0;
  const Trained whole = Train(*backend, options, start_, train_, &validation_);
  for (size_t e = 0; e < 2; ++e) {
    EXPECT_NEAR(owned.history.epochs[e].train_loss, whole.history.epochs[e].train_loss, 1e-5);
    EXPECT_NEAR(owned.history.epochs[e].validation_loss, whole.history.epochs[e].validation_loss, 1e-4);
  }
}

TEST_P(OwnedRows, GoesOnWithAnotherNumberOfRanks) {
  const TrainOptions& options = GetParam().options;
  const std::string whole = NetworkOf(1, options);
  for (const int stop_after : {1, 4}) {
    TrainState state;
    OnRanks(3, options, [&](Communicator& ranks, Trainer& trainer, const Dataset& own) {
      int asked = 0;
      TrainCallbacks callbacks;
      callbacks.stop_requested = [&] { return ++asked == stop_after && ranks.rank() == 1; };
      callbacks.checkpoint = [&](TrainState&& at) {
        if (ranks.is_first()) {
          state = std::move(at);
        }
      };
      EXPECT_EQ(trainer.Run(own, &validation_, callbacks).stop_reason, "interrupted");
    });
    networks_.clear();
    OnRanks(2, options, [&](Communicator&, Trainer& trainer, const Dataset& own) {
      trainer.Resume(state);
      trainer.Run(own, &validation_, {});
    });
    EXPECT_EQ(networks_.front(), whole) << stop_after;
  }
}

// This includes a last batch of fewer rows than shards, where some ranks have none.
TEST(OwnedRowsOnADevice, AnyNumberOfRanksGivesTheSameBits) {
  if (!cuda_emulated::Compiled()) {
    GTEST_SKIP() << "no emulated GPU in this build";
  }
  const Dataset train = RandomDataset(kRows, 12, 3, DType::kF32, 4);
  const Network start = NetworkFor(train, 8, "softmax");
  for (const int64_t batch : {16, 40}) {
    TrainOptions options = OwnedRowsCases().front().options;
    options.batch = batch;
    const auto device = cuda_emulated::MakeBackend({});
    const Trained alone = Train(*device, options, start, train);
    for (const int size : {2, 3}) {
      RunRanks(size, [&](Communicator& ranks) {
        const auto backend = cuda_emulated::MakeBackend({});
        const Dataset own = Part(train, ShardRows(kRows, batch, options.shards, ranks.size(), ranks.rank()).own());
        Network network = start;
        Trainer(network, *backend, options, &ranks).Run(own, nullptr, {});
        EXPECT_EQ(WeightBytes(network), WeightBytes(alone.network)) << size << " ranks, batch " << batch;
      });
    }
  }
}

}  // namespace
}  // namespace lamina
