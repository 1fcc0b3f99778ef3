// Regions, barriers and what becomes of them in children, in other threads and where cores are scarce.
#include "lamina/base/team.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace lamina {
namespace {

// Sums of rounds in which every thread reads what all wrote before the barrier. -1 where one saw a number of another
// round.
int64_t RoundsWithBarriers(int threads, int rounds) {
  std::vector<int64_t> written(static_cast<size_t>(threads));
  std::atomic<int64_t> sum{0};
  std::atomic<bool> wrong{false};
  RunTeam(threads, [&](Team team) {
    for (int round = 1; round <= rounds; ++round) {
      written[static_cast<size_t>(team.thread)] = round;
      team.Barrier();
      for (int i = 0; i < team.size; ++i) {
        wrong = wrong || written[static_cast<size_t>(i)] != round;
      }
      team.Barrier();
    }
    sum += rounds;
  });
  return wrong ? -1 : sum.load();
}

TEST(Team, BarriersHoldEverybody) {
  for (int threads : {2, 3, 8}) {  // more than there are cores, too
    int64_t sum = 0;
    std::thread([&] {
      sum = RoundsWithBarriers(threads, 500);
    }).join();  // a pool that has not been told to go on alone
    EXPECT_EQ(sum, 500 * threads);
  }
}

TEST(Team, PartsCoverTheRangeOnce) {
  for (int threads : {1, 2, 5}) {
    for (int64_t count : {0, 1, 4, 1001}) {
      std::vector<std::atomic<int>> times(static_cast<size_t>(count));
      RunParts(threads, count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          ++times[static_cast<size_t>(i)];
        }
      });
      EXPECT_EQ(std::accumulate(times.begin(), times.end(), int64_t{0}), count);
      for (const auto& once : times) {
        EXPECT_EQ(once, 1);
      }
    }
  }
}

TEST(Team, SharedLoopsCoverTheirRangesOnce) {
  for (int threads : {1, 2, 5}) {
    for (int64_t count : {0, 1, 3, 4, 7, 1001}) {
      for (int loops : {1, 3, Team::kSharedLoops + 2}) {
        std::vector<std::atomic<int>> times(static_cast<size_t>(count));
        RunTeam(threads, [&](Team team) {
          for (int round = 0; round < 2; ++round) {
            team.Barrier();
            for (int loop = 0; loop < loops; ++loop) {
              team.Share(count, loop, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  ++times[static_cast<size_t>(i)];
                }
              });
            }
          }
        });
        for (const auto& each : times) {
          EXPECT_EQ(each, 2 * loops) << threads << " threads, " << count;
        }
      }
    }
  }
}

TEST(Team, WhoIsSlowerDoesLessOfASharedLoop) {
  constexpr int64_t kCount = 64;
  for (int slow = 0; slow < 2; ++slow) {
    std::vector<int> done(2);
    std::atomic<int> size{0};
    std::thread([&] {  // a pool that has not been told to go on alone
      RunTeam(2, [&](Team team) {
        size = team.size;
        team.Barrier();
        team.Share(kCount, 0, [&](int64_t begin, int64_t end) {
          done[static_cast<size_t>(team.thread)] += static_cast<int>(end - begin);
          if (team.thread == slow) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
        });
      });
    })
        .join();
    if (size < 2) {
      GTEST_SKIP() << "the system gave no second thread";
    }
    EXPECT_EQ(done[0] + done[1], kCount);
    EXPECT_LT(done[static_cast<size_t>(slow)], done[static_cast<size_t>(1 - slow)]);
  }
}

TEST(Team, ManyShortRegionsOfChangingSizes) {
  std::atomic<int64_t> calls{0};
  int64_t least = 0;
  for (int i = 0; i < 3000; ++i) {
    const int threads = 1 + i % 4;
    RunTeam(threads, [&](Team team) {
      EXPECT_LE(team.size, threads);
      ++calls;
    });
    ++least;
  }
  EXPECT_GE(calls, least);
}

// 20 waits for a thread that computes for 2 ms each: spinning takes 40 ms, going to sleep next to nothing.
TEST(Team, ToldToSleepItDoesNotSpin) {
  using std::chrono::steady_clock;
  const char* before = std::getenv("OMP_WAIT_POLICY");
  const std::string restored = before == nullptr ? "" : before;
  setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  int64_t waiting_ns = -1;
  std::thread([&] {
    RunTeam(2, [&](Team team) {
      for (int round = 0; round < 20; ++round) {
        if (team.thread == 1) {
          for (const auto end = steady_clock::now() + std::chrono::milliseconds(2); steady_clock::now() < end;) {
          }
        }
        team.Barrier();
      }
      if (team.thread == 0 && team.size == 2) {
        timespec used{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        waiting_ns = used.tv_sec * 1'000'000'000 + used.tv_nsec;
      }
    });
  }).join();
  if (before == nullptr) {
    unsetenv("OMP_WAIT_POLICY");
  } else {
    setenv("OMP_WAIT_POLICY", restored.c_str(), 1);
  }
  EXPECT_GT(waiting_ns, 0);
  EXPECT_LT(waiting_ns, 10'000'000);
}

TEST(Team, ARegionInsideARegionIsComputedAlone) {
  std::atomic<int> outer{0};
  std::atomic<int> inner{0};
  std::thread([&] {  // a pool that has not been told to go on alone
    RunTeam(3, [&](Team) {
      ++outer;
      RunTeam(2, [&](Team nested) {
        EXPECT_EQ(nested.size, 1);
        ++inner;
      });
    });
  })
      .join();
  EXPECT_EQ(outer, 3);
  EXPECT_EQ(inner, 3);
}

TEST(Team, EachIsTakenOnceAndALongOneKeepsNobody) {
  for (int threads : {1, 2, 5}) {
    for (int64_t count : {0, 1, 4, 1001}) {
      std::vector<std::atomic<int>> times(static_cast<size_t>(count));
      RunEach(threads, count, [&](int64_t i) { ++times[static_cast<size_t>(i)]; });
      for (const auto& once : times) {
        EXPECT_EQ(once, 1);
      }
    }
  }
  constexpr int kShort = 20;
  std::atomic<int> done{0};
  std::thread([&] {
    RunEach(2, kShort + 1, [&](int64_t i) {
      const auto begin = std::chrono::steady_clock::now();
      while (i == 0 && done < kShort && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
        std::this_thread::yield();  // until the other thread has done all others
      }
      done += i == 0 ? 0 : 1;
    });
  }).join();
  EXPECT_EQ(done, kShort);
}

TEST(Team, EveryCallingThreadHasItsOwn) {
  std::vector<int64_t> sums(3);
  std::vector<std::thread> callers;
  callers.reserve(sums.size());
  for (int64_t& sum : sums) {
    callers.emplace_back([&sum] { sum = RoundsWithBarriers(2, 200); });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  for (int64_t sum : sums) {
    EXPECT_GT(sum, 0);
  }
}

std::atomic<int> faults_handled{0};

// The host's handler is, say, a crash reporter's: blocked, such a signal ends the process past it.
TEST(Team, FaultsOfItsThreadsReachTheHandlerOfTheHost) {
  struct sigaction before {};
  struct sigaction handle {};
  handle.sa_handler = [](int) { ++faults_handled; };
  sigaction(SIGILL, &handle, &before);
  std::atomic<int> raised{0};
  RunTeam(3, [&](Team) {
    ++raised;
    raise(SIGILL);
  });
  sigaction(SIGILL, &before, nullptr);
  EXPECT_EQ(faults_handled, raised);
}

TEST(Team, AChildAfterForkStartsItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has no threads after a fork";
#endif
  ASSERT_GT(RoundsWithBarriers(2, 10), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a child that waits for its parent's threads ends by this
    _exit(RoundsWithBarriers(2, 100) > 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_GT(RoundsWithBarriers(2, 10), 0);  // and the parent's go on
}

}  // namespace
}  // namespace lamina
