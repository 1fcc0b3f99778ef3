// Who is asked within kernels, how often, and what a team hears of it.
#include "lamina/base/abandon.h"

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "gtest/gtest.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

// Rounds of a loop until it is to leave, or for a second.
bool LeavesWithinASecond() {
  const Stopwatch watch;
  while (watch.Elapsed_seconds() < 1) {
    if (Abandoned()) {
      return true;
    }
  }
  return false;
}

TEST(Abandon, NobodyIsAskedWithoutAScopeNorManyTimesWithOne) {
  EXPECT_FALSE(Abandoned());
  int asked = 0;
  const AbandonScope scope([&] {
    ++asked;
    return false;
  });
  const Stopwatch watch;
  while (watch.Elapsed_seconds() < 0.1) {
    EXPECT_FALSE(Abandoned());
  }
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 10 * watch.Elapsed_seconds() / 0.1 + 1);
  EXPECT_FALSE(scope.told());
}

TEST(Abandon, TheInnermostScopeIsAskedAndTellsOfItself) {
  const AbandonScope outer([] { return true; });
  {
    const AbandonScope inner([] { return false; });
    const Stopwatch watch;
    while (watch.Elapsed_seconds() < 0.05) {
      EXPECT_FALSE(Abandoned());
    }
  }
  EXPECT_FALSE(outer.told());
  EXPECT_TRUE(LeavesWithinASecond());
  EXPECT_TRUE(outer.told());
  bool elsewhere = true;
  std::thread([&] { elsewhere = Abandoned(); }).join();
  EXPECT_FALSE(elsewhere);
}

TEST(Abandon, AllOfATeamHearOfIt) {
  constexpr int kThreads = 4;
  std::array<std::atomic<bool>, kThreads> left{};
  const AbandonScope scope([] { return true; });
  RunTeam(kThreads, [&](Team team) {
    left[static_cast<size_t>(team.thread)] = LeavesWithinASecond();
    team.Barrier();
  });
  int heard = 0;
  for (const std::atomic<bool>& one : left) {
    heard += one ? 1 : 0;
  }
  EXPECT_TRUE(left[0]);
  EXPECT_TRUE(heard == kThreads || heard == 1) << heard;  // 1: the system gave no other thread
  {
    const AbandonScope other([] { return false; });
    bool again = true;
    RunTeam(kThreads, [&](Team team) {
      if (team.thread == team.size - 1) {
        again = Abandoned();
      }
    });
    EXPECT_FALSE(again);
  }
}

TEST(Abandon, StopsAtThrowsAwayWhatKernelsLeft) {
  const auto stop = [] { return true; };
  EXPECT_TRUE(StopsAt(stop, [] { LeavesWithinASecond(); }));  // no stop point was met
  EXPECT_TRUE(StopsAt(stop, [] { StopPoint(); }));            // no kernel asked
  EXPECT_TRUE(StopsAt(stop, [] {                              // made of what is left
    LeavesWithinASecond();
    throw std::runtime_error("not positive definite");
  }));
  EXPECT_FALSE(StopsAt([] { return false; }, [] { StopPoint(); }));
  EXPECT_THROW(StopsAt([] { return false; }, [] { throw std::runtime_error("damaged"); }), std::runtime_error);
}

}  // namespace
}  // namespace lamina
