// Exchanges beside computing: what is hidden is counted, what fails there is thrown here, and nobody waits for ever.
#include "lamina/cluster/overlapped_gradient.h"

#include <gtest/gtest.h>
#include <atomic>

#include <chrono>
#include <thread>

#include "lamina/base/timing.h"
#include "lamina/cluster/thread_ranks.h"
#include "tests/caught_error.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

using namespace std::chrono_literals;

TEST(Exchanges, AreAllPartsInOrder) {
  const std::vector<std::vector<int64_t>> all{
      {3'000'000}, {41'000, 401'000, 401'000, 401'000, 401'000}, std::vector<int64_t>(40, 100'000), {10, 10, 10}};
  for (const std::vector<int64_t>& bytes : all) {
    size_t before = bytes.size();
    for (const int64_t ranks : {1, 2, 3, 8, 1000}) {
      const std::vector<IndexRange> exchanges = Exchanges(bytes, ranks);
      int64_t next = 0;
      for (const IndexRange& range : exchanges) {
        EXPECT_EQ(range.begin, next);
        EXPECT_GT(range.count(), 0);
        next = range.end;
      }
      EXPECT_EQ(next, std::ssize(bytes));
      EXPECT_LE(exchanges.size(), before) << "more ranks, larger exchanges";
      before = exchanges.size();
    }
    EXPECT_EQ(before, 1U);
  }
  EXPECT_EQ(Exchanges(all[1], 2).size(), 4U) << "what is small goes with the next one";
}

TEST(TaskThread, TasksAreDoneInOrderAndWhatTheyHideIsCounted) {
  RunRanks(2, [](Communicator& ranks) {
    TaskThread thread(ranks);
    std::vector<int> done;
    std::atomic<int> finished = 0;
    for (int round = 0; round < 3; ++round) {
      const double waited_before = ranks.waited_seconds();
      const double exchanged_before = ranks.exchange_seconds();
      thread.Do([&] {
        if (ranks.rank() == 1) {
          std::this_thread::sleep_for(100ms);
        }
        ranks.Barrier();
        done.push_back(2 * round);
      });
      thread.Do([&] {
        done.push_back(2 * round + 1);
        ++finished;
      });
      while (round < 2 && finished <= round) {  // what is computed meanwhile
        std::this_thread::sleep_for(1ms);
      }
      const Stopwatch finishing;
      thread.Finish();
      const double finishing_seconds = finishing.Elapsed_seconds();
      if (ranks.rank() == 0) {
        const double waited = ranks.waited_seconds() - waited_before;
        EXPECT_GT(waited, 0);
        EXPECT_LE(waited, ranks.exchange_seconds() - exchanged_before);
        EXPECT_LE(waited, finishing_seconds) << "the rest was hidden";
      }
    }
    EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  });
}

TEST(TaskThread, AFailureIsThrownWhereItIsWaitedFor) {
  RunRanks(1, [](Communicator& ranks) {
    TaskThread thread(ranks);
    bool begun = false;
    thread.Do([] { throw Error(ErrorCode::kIo, "the link is down"); });
    thread.Do([&] { begun = true; });
    EXPECT_TRUE(Mentions(CaughtError([&] { thread.Finish(); }).what(), "the link is down"));
    EXPECT_FALSE(begun);
  });
}

TEST(TaskThread, WhoeverLeavesDoesNotWaitForTheOthers) {
  const auto begin = std::chrono::steady_clock::now();
  const Error error = CaughtError([] {
    RunRanks(2, [](Communicator& ranks) {
      TaskThread thread(ranks);
      if (ranks.rank() == 1) {
        std::this_thread::sleep_for(300ms);
        throw Error(ErrorCode::kResource, "no memory left");
      }
      thread.Do([&] { ranks.Barrier(); });
      throw Error(ErrorCode::kResource, "nor here");  // while the exchange waits
    });
  });
  EXPECT_TRUE(Mentions(error.what(), "nor here"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

class Overlapped : public testing::Test {
 protected:
  // One gradient of all rows on three ranks, in the place of a step; `share` beside it, once deltas are there.
  void Compute(const std::function<void(Communicator&)>& share, double patience_seconds) const {
    RunRanks(
        3,
        [&](Communicator& ranks) {
          const auto backend = MakeBackend("cpu", {.threads = 1});
          const Network network = NetworkFor(train_, 4096, "softmax");
          Executor executor(network, *backend,
                            {.max_batch = 10, .training = true, .step = {.loss = Loss::kCrossEntropy}});
          ASSERT_TRUE(OverlappedGradient::Pays(executor, DType::kF32, ranks.size()));
          OverlappedGradient gradient(executor, DType::kF32, 1, SentAs::kItself, 30, ranks);
          ranks.SetPlace(4, 17);
          LossSums unused;
          std::vector<LossSums> sums(8);
          const TrainingSteps work{.x = train_.features.view(), .targets = train_.targets.view(), .sums = &unused};
          gradient.Compute(work, {0, 60}, 8, sums, [&] { share(ranks); });
        },
        patience_seconds);
  }

  Dataset train_ = RandomDataset(60, 64, 3, DType::kF32, 4);
};

TEST_F(Overlapped, ARankThatFailsInTheMiddleEndsTheOthers) {
  for (const int failing : {0, 1, 2}) {
    const Error error = CaughtError([&] {
      Compute(
          [&](Communicator& ranks) {
            ranks.Barrier();  // all are exchanging
            if (ranks.rank() == failing) {
              throw Error(ErrorCode::kIo, "the disk is full");
            }
          },
          600);
    });
    EXPECT_TRUE(Mentions(error.what(), "the disk is full"));
  }
}

TEST_F(Overlapped, ARankThatHangsInTheMiddleIsNamed) {
  const Error error = CaughtError([&] {
    Compute(
        [&](Communicator& ranks) {
          ranks.Barrier();
          if (ranks.rank() == 1) {
            std::this_thread::sleep_for(2s);
          }
        },
        0.5);
  });
  for (const char* part : {"of 3 on host", "for rank 1 of 3", "in epoch 4, step 17", "--rank-timeout"}) {
    EXPECT_TRUE(Mentions(error.what(), part));
  }
}

}  // namespace
}  // namespace lamina
