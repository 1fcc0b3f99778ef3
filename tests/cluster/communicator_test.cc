// Collective calls of ranks that are threads: what arrives, and what is said of a rank that does not answer.
#include "lamina/cluster/communicator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>

#include "lamina/cluster/mpi.h"
#include "lamina/cluster/thread_ranks.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

using namespace std::chrono_literals;

class RankCounts : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, RankCounts, testing::Values(1, 2, 3, 5, 8));

TEST_P(RankCounts, EveryPartArrives) {
  RunRanks(GetParam(), [](Communicator& ranks) {
    for (int round = 0; round < 20; ++round) {
      const int n = ranks.size();
      std::vector<int> sent(static_cast<size_t>(n));
      std::vector<int> received(static_cast<size_t>(n), -1);
      std::vector<SentPart> to;
      std::vector<ReceivedPart> from;
      for (int r = 0; r < n; ++r) {
        sent[static_cast<size_t>(r)] = 10000 * round + 100 * ranks.rank() + r;
        to.push_back({&sent[static_cast<size_t>(r)], sizeof(int)});
        from.push_back({&received[static_cast<size_t>(r)], sizeof(int)});
      }
      ranks.AllToAll(to, from);
      for (int r = 0; r < n; ++r) {
        ASSERT_EQ(received[static_cast<size_t>(r)], 10000 * round + 100 * r + ranks.rank());
      }
    }
  });
}

TEST_P(RankCounts, GatherBroadcastAndAny) {
  RunRanks(GetParam(), [](Communicator& ranks) {
    const std::vector<std::string> texts = ranks.AllGather(std::string(static_cast<size_t>(ranks.rank()), 'x'));
    ASSERT_EQ(std::ssize(texts), ranks.size());
    for (size_t r = 0; r < texts.size(); ++r) {
      EXPECT_EQ(texts[r], std::string(r, 'x'));
    }
    for (int root = 0; root < ranks.size(); ++root) {
      double value = ranks.rank() == root ? 0.5 + root : 0;
      ranks.Broadcast(&value, sizeof(value), root);
      EXPECT_EQ(value, 0.5 + root);
      EXPECT_TRUE(ranks.Any(ranks.rank() == root));
    }
    EXPECT_FALSE(ranks.Any(false));
    EXPECT_GE(CoresOfRank(ranks), 1);
    EXPECT_EQ(ranks.host(ranks.size() - 1), HostName());
  });
}

TEST(Communicator, ADifferenceIsNamedOnAllRanks) {
  RunRanks(3, [](Communicator& ranks) {
    RequireSame(ranks, "the weather", "rain", "Wait.");
    const Error error =
        CaughtError([&] { RequireSame(ranks, "the weather", ranks.rank() == 2 ? "sun" : "rain", "Wait."); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    for (const char* part : {"the weather must be the same", "rank 0 of 3", "rain", "rank 2 of 3", "sun", "Wait."}) {
      EXPECT_TRUE(Mentions(error.what(), part));
    }
  });
}

TEST(Communicator, ASilentRankIsNamedInTime) {
  const auto begin = std::chrono::steady_clock::now();
  const Error error = CaughtError([] {
    RunRanks(
        3,
        [](Communicator& ranks) {
          ranks.SetPlace(4, 17);
          if (ranks.rank() == 1) {
            std::this_thread::sleep_for(1500ms);
          }
          ranks.Barrier();
        },
        0.3);
  });
  for (const char* part : {"of 3 on host", "waited 0 s for rank 1 of 3", "in epoch 4, step 17", "--rank-timeout"}) {
    EXPECT_TRUE(Mentions(error.what(), part));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Communicator, AFailingRankEndsTheOthers) {
  const Error error = CaughtError([] {
    RunRanks(4, [](Communicator& ranks) {
      if (ranks.rank() == 2) {
        throw Error(ErrorCode::kIo, "the disk is full");
      }
      ranks.Barrier();
    });
  });
  EXPECT_TRUE(Mentions(error.what(), "the disk is full"));
}

TEST(Communicator, AnErrorOfAllIsToldFromThatOfOne) {
  RunRanks(3, [](Communicator& ranks) { EXPECT_TRUE(ranks.AllFailed(20)); });
  RunRanks(3, [](Communicator& ranks) { EXPECT_TRUE(ranks.rank() != 1 || !ranks.AllFailed(0.05)); });
}

TEST(Mpi, ALauncherIsSeenByItsVariables) {
  const char* const names[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
                               "SLURM_STEP_NUM_TASKS"};
  const auto clear = [&] {
    for (const char* name : names) {
      unsetenv(name);
    }
  };
  clear();
  EXPECT_EQ(SeenLauncher().mpi, "");
  EXPECT_EQ(JoinMpi("auto"), nullptr);
  EXPECT_EQ(JoinMpi("off"), nullptr);
  setenv("LAMINA_MPI_PLUGIN", "/no/such/plugin.so", 1);
  setenv("PMI_RANK", "3", 1);
  setenv("PMI_SIZE", "4", 1);
  EXPECT_EQ(SeenLauncher().mpi, "mpich");
  EXPECT_EQ(SeenLauncher().rank, 3);
  EXPECT_EQ(SeenLauncher().size, 4);
  const Error error = CaughtError([] { JoinMpi("auto"); });
  for (const char* part : {"PMI_SIZE=4", "/no/such/plugin.so", "--mpi off"}) {
    EXPECT_TRUE(Mentions(error.what(), part));
  }
  setenv("PMI_SIZE", "1", 1);
  EXPECT_EQ(JoinMpi("auto"), nullptr);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_EQ(SeenLauncher().mpi, "openmpi");
  clear();
  setenv("SLURM_STEP_NUM_TASKS", "8", 1);
  EXPECT_TRUE(Mentions(CaughtError([] { JoinMpi("auto"); }).what(), "--mpi=pmix"));
  EXPECT_EQ(JoinMpi("off"), nullptr);
  clear();
  unsetenv("LAMINA_MPI_PLUGIN");
}

}  // namespace
}  // namespace lamina
