// Training by shards: the same bits for any number of ranks, and the numbers of training without shards.
#include "lamina/cluster/sharded_steps.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/cluster/shards.h"
#include "lamina/cluster/thread_ranks.h"
#include "tests/caught_error.h"
#include "tests/thin.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

// The sum that the tree defines, written from its definition.
float DefinedSum(const std::vector<float>& terms, int level, int64_t index) {
  const int64_t begin = index << level;
  if (level == 0) {
    return terms[static_cast<size_t>(begin)];
  }
  const float left = DefinedSum(terms, level - 1, 2 * index);
  const int64_t middle = (2 * index + 1) << (level - 1);
  return middle < std::ssize(terms) ? left + DefinedSum(terms, level - 1, 2 * index + 1) : left;
}

TEST(Shards, PartsCoverAll) {
  for (const int64_t count : {0, 1, 7, 64}) {
    for (const int64_t parts : {1, 2, 3, 8}) {
      int64_t next = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const IndexRange part = PartOf(count, parts, i);
        EXPECT_EQ(part.begin, next);
        EXPECT_LE(part.count(), (count + parts - 1) / parts);
        next = part.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(Shards, TheSumDoesNotDependOnHowRanksCutIt) {
  Random random(3);
  for (const int64_t shards : {1, 2, 3, 6, 7, 8, 13, 16, 31, 64}) {
    std::vector<float> terms;
    for (int64_t i = 0; i < shards; ++i) {
      terms.push_back(static_cast<float>(random.Normal() * std::pow(10, random.Uniform() * 6)));
    }
    int levels = 0;
    while (int64_t{1} << levels < shards) {
      ++levels;
    }
    const float expected = DefinedSum(terms, levels, 0);
    for (int64_t ranks = 1; ranks <= shards; ++ranks) {
      std::vector<float> values;
      TreeSum whole([&](int64_t left, int64_t right) {
        values[static_cast<size_t>(left)] += values[static_cast<size_t>(right)];
      });
      for (int64_t r = 0; r < ranks; ++r) {
        std::vector<float> own = terms;
        TreeSum part(
            [&](int64_t left, int64_t right) { own[static_cast<size_t>(left)] += own[static_cast<size_t>(right)]; });
        const IndexRange range = PartOf(shards, ranks, r);
        for (int64_t shard = range.begin; shard < range.end; ++shard) {
          part.Push({0, shard}, shard);
        }
        const std::vector<ShardNode> nodes = NodesOf(range);
        ASSERT_EQ(nodes.size(), part.terms().size());
        for (size_t n = 0; n < nodes.size(); ++n) {
          EXPECT_EQ(nodes[n], part.terms()[n].node);
          values.push_back(own[static_cast<size_t>(part.terms()[n].place)]);
          whole.Push(nodes[n], std::ssize(values) - 1);
        }
      }
      EXPECT_EQ(values[static_cast<size_t>(whole.Finish())], expected) << shards << " shards, " << ranks << " ranks";
    }
  }
}

TrainOptions ShardedOptions() {
  TrainOptions options;
  options.epochs = 3;
  options.batch = 40;  // of 130 rows: the last batch has 10, and of the shards of 8 some have a row more
  options.shards = 8;
  options.rule.kind = UpdateKind::kAdam;
  options.rule.learning_rate = 0.01;
  return options;
}

struct Recipe {
  const char* name;
  TrainOptions options;
  DType dtype = DType::kF32;
  int64_t inputs = 9;
  int64_t hidden = 20;
};

std::vector<Recipe> Recipes() {
  std::vector<Recipe> recipes{{"adam", ShardedOptions()},
                              {"clipped", ShardedOptions()},
                              {"f64", ShardedOptions(), DType::kF64},
                              {"odd", ShardedOptions()},
                              {"more_shards_than_rows", ShardedOptions()}};
  recipes[1].options.step.clip_norm = 0.05;
  recipes[1].options.patience = 1;
  recipes[3].options.shards = 7;
  recipes[3].options.rule.kind = UpdateKind::kSgd;
  recipes.push_back({"rates_of_steps", ShardedOptions()});
  recipes.back().options.schedule.kind = ScheduleKind::kOneCycle;
  recipes[4].options.shards = 13;
  recipes[4].options.batch = 20;  // the last one has 10
  // Gradients of 2 MB, which travel in parts; on seven ranks in fewer than on two.
  for (const Recipe& small : std::vector<Recipe>(recipes)) {
    if (small.options.rule.kind == UpdateKind::kAdam) {
      recipes.push_back(small);
      recipes.back().inputs = 60;
      recipes.back().hidden = 8192;
      recipes.back().options.epochs = 2;
      if (kThin) {
        break;
      }
    }
  }
  return recipes;
}

class ShardedTraining : public testing::TestWithParam<Recipe> {
 protected:
  ShardedTraining()
      : train_(RandomDataset(130, GetParam().inputs, 3, GetParam().dtype, 4)),
        validation_(RandomDataset(600, GetParam().inputs, 3, GetParam().dtype, 5)),
        start_(NetworkFor(train_, GetParam().hidden, "softmax")) {}

  Trained TrainOn(int size, int threads = 1) const {
    std::mutex mutex;
    std::vector<Trained> results;
    RunRanks(size, [&](Communicator& ranks) {
      const auto backend = MakeBackend("cpu", {.threads = threads});
      Trained mine{start_, {}};
      Trainer trainer(mine.network, *backend, GetParam().options, &ranks);
      mine.history = trainer.Run(train_, &validation_, {});
      EXPECT_EQ(trainer.overlaps().ok, GetParam().hidden > 1000) << trainer.overlaps().reason;
      const std::lock_guard lock(mutex);
      results.push_back(std::move(mine));
    });
    for (const Trained& result : results) {
      EXPECT_EQ(WeightBytes(result.network), WeightBytes(results[0].network));
      EXPECT_EQ(LossesOf(result.history), LossesOf(results[0].history));
    }
    return results[0];
  }

  Dataset train_;
  Dataset validation_;
  Network start_;
};
INSTANTIATE_TEST_SUITE_P(, ShardedTraining, testing::ValuesIn(Recipes()), [](const auto& info) {
  return info.param.name + std::string(info.param.hidden > 1000 ? "_in_parts" : "");
});

TEST_P(ShardedTraining, AnyNumberOfRanksGivesTheSameBits) {
  const auto backend = MakeBackend("cpu", {.threads = 1});
  const Trained alone = Train(*backend, GetParam().options, start_, train_, &validation_);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    const Trained together = TrainOn(ranks, ranks == 2 ? 2 : 1);
    EXPECT_EQ(WeightBytes(together.network), WeightBytes(alone.network)) << ranks;
    EXPECT_EQ(LossesOf(together.history), LossesOf(alone.history)) << ranks;
  }
}

TEST_P(ShardedTraining, TheNumbersAreThoseOfWholeBatches) {
  const auto backend = MakeBackend("serial", {});
  TrainOptions whole = GetParam().options;
  whole.shards = 0;
  const Trained expected = Train(*backend, whole, start_, train_, &validation_);
  const Trained got = Train(*backend, GetParam().options, start_, train_, &validation_);
  ASSERT_EQ(got.history.epochs.size(), expected.history.epochs.size());
  for (size_t e = 0; e < got.history.epochs.size(); ++e) {
    EXPECT_NEAR(got.history.epochs[e].train_loss, expected.history.epochs[e].train_loss, 1e-4);
    EXPECT_NEAR(got.history.epochs[e].validation_loss, expected.history.epochs[e].validation_loss, 1e-4);
  }
}

// Stopped after any step on some ranks, going on with another number of ranks.
TEST_P(ShardedTraining, GoesOnWithAnotherNumberOfRanks) {
  const auto backend = MakeBackend("cpu", {.threads = 1});
  const Trained whole = Train(*backend, GetParam().options, start_, train_, &validation_);
  for (const int stop_after : {1, 3, 5}) {
    TrainState state;
    RunRanks(3, [&](Communicator& ranks) {
      const auto own = MakeBackend("cpu", {.threads = 1});
      Network network = start_;
      Trainer trainer(network, *own, GetParam().options, &ranks);
      int asked = 0;
      TrainCallbacks callbacks;
      callbacks.stop_requested = [&] { return ++asked == stop_after && ranks.rank() == 1; };  // one rank is told
      callbacks.checkpoint = [&](TrainState&& at) {
        if (ranks.is_first()) {
          state = std::move(at);
        }
      };
      EXPECT_EQ(trainer.Run(train_, &validation_, callbacks).stop_reason, "interrupted");
    });
    RunRanks(2, [&](Communicator& ranks) {
      const auto own = MakeBackend("cpu", {.threads = 1});
      Network network = start_;
      Trainer trainer(network, *own, GetParam().options, &ranks);
      trainer.Resume(state);
      const History history = trainer.Run(train_, &validation_, {});
      EXPECT_EQ(WeightBytes(network), WeightBytes(whole.network)) << stop_after;
      EXPECT_EQ(LossesOf(history), LossesOf(whole.history)) << stop_after;
    });
  }
}

class RanksThatRound : public testing::Test {
 protected:
  Trained TrainOn(int size, const TrainOptions& options) const { return TrainOn(size, options, start_); }
  // The first rank's result; all must have the same weights.
  Trained TrainOn(int size, const TrainOptions& options, const Network& start) const {
    std::mutex mutex;
    std::vector<Trained> results;
    RunRanks(size, [&](Communicator& ranks) {
      const auto backend = MakeBackend("cpu", {.threads = 1});
      Trained mine{start, {}};
      Trainer trainer(mine.network, *backend, options, &ranks);
      mine.history = trainer.Run(train_, &validation_, {});
      const std::lock_guard lock(mutex);
      results.push_back(std::move(mine));
    });
    for (const Trained& result : results) {
      EXPECT_EQ(WeightBytes(result.network), WeightBytes(results[0].network)) << size;
      EXPECT_EQ(result.history.epochs.back().train_loss, results[0].history.epochs.back().train_loss) << size;
      EXPECT_EQ(result.history.epochs.back().validation_loss, results[0].history.epochs.back().validation_loss) << size;
    }
    return results[0];
  }

  Dataset train_ = RandomDataset(330, 9, 0, DType::kF32, 4);
  Dataset validation_ = RandomDataset(600, 9, 0, DType::kF32, 5);
  Network start_ = NetworkFor(train_, 20, "identity");
  Network wide_ = NetworkFor(train_, 16000, "identity");  // its gradient travels in parts
};

TEST_F(RanksThatRound, GradientsOfHalfTheBytesLearnNearlyTheSame) {
  TrainOptions options = ShardedOptions();
  options.step.loss = Loss::kMse;
  options.epochs = 10;
  const Trained exact = TrainOn(2, options);
  options.gradients_as_bf16 = true;
  EXPECT_EQ(WeightBytes(TrainOn(1, options).network), WeightBytes(exact.network)) << "one rank sends nothing";
  for (const int ranks : {2, 3, 4}) {
    const Trained rounded = TrainOn(ranks, options);
    EXPECT_EQ(WeightBytes(TrainOn(ranks, options).network), WeightBytes(rounded.network));
    EXPECT_NE(WeightBytes(rounded.network), WeightBytes(exact.network));
    EXPECT_NEAR(rounded.history.epochs.back().validation_loss / exact.history.epochs.back().validation_loss, 1, 0.02);
  }
}

TEST_F(RanksThatRound, GradientsInPartsAreRoundedAlike) {
  TrainOptions options = ShardedOptions();
  options.step.loss = Loss::kMse;
  options.rule.learning_rate = 0.001;
  options.epochs = kThin ? 1 : options.epochs;
  const Trained exact = TrainOn(2, options, wide_);
  options.gradients_as_bf16 = true;
  for (const int ranks : {2, 3}) {
    const Trained rounded = TrainOn(ranks, options, wide_);
    EXPECT_EQ(WeightBytes(TrainOn(ranks, options, wide_).network), WeightBytes(rounded.network));
    EXPECT_NE(WeightBytes(rounded.network), WeightBytes(exact.network));
    EXPECT_NEAR(rounded.history.epochs.back().validation_loss / exact.history.epochs.back().validation_loss, 1, 0.05);
  }
}

TEST(ShardedSteps, ARankWithNothingToDoIsRefused) {
  const Dataset train = RandomDataset(30, 4, 2, DType::kF32, 1);
  TrainOptions options = ShardedOptions();
  options.shards = 2;
  const Error error = CaughtError([&] {
    RunRanks(3, [&](Communicator& ranks) {
      const auto backend = MakeBackend("cpu", {.threads = 1});
      Network network = NetworkFor(train, 5, "softmax");
      Trainer(network, *backend, options, &ranks).Run(train, nullptr, {});
    });
  });
  for (const char* part : {"3 ranks share 2 shards", "1 would have nothing to do", "--shards 3"}) {
    EXPECT_TRUE(Mentions(error.what(), part));
  }
}

}  // namespace
}  // namespace lamina
