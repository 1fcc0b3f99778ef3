// Which way repeated work is done, by times that are given, and what teams are in a scope of one.
#include "lamina/base/team_choice.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kMicrosecond_ns = 1000;

// How many of `times` runs with these costs were done alone.
int64_t TimesAlone(TeamChoice& choice, int64_t times, int64_t together_ns, int64_t alone_ns) {
  int64_t count = 0;
  for (int64_t i = 0; i < times; ++i) {
    count += choice.alone() ? 1 : 0;
    choice.Took(choice.alone() ? alone_ns : together_ns);
  }
  return count;
}

TEST(TeamChoice, TakesTheFasterWay) {
  TeamChoice slower_together;
  EXPECT_GT(TimesAlone(slower_together, 20'000, 300 * kMicrosecond_ns, 100 * kMicrosecond_ns), 19'500);
  TeamChoice faster_together;
  EXPECT_LT(TimesAlone(faster_together, 20'000, 100 * kMicrosecond_ns, 180 * kMicrosecond_ns), 1'000);
}

TEST(TeamChoice, FollowsAMachineThatChanges) {
  TeamChoice choice;
  TimesAlone(choice, 20'000, 300 * kMicrosecond_ns, 100 * kMicrosecond_ns);
  EXPECT_TRUE(choice.alone());
  TimesAlone(choice, 20'000, 60 * kMicrosecond_ns, 100 * kMicrosecond_ns);  // more than the longest pause
  EXPECT_LT(TimesAlone(choice, 20'000, 60 * kMicrosecond_ns, 100 * kMicrosecond_ns), 1'000);
}

TEST(TeamChoice, LongWorkIsNeverTriedAlone) {
  TeamChoice choice;
  EXPECT_EQ(TimesAlone(choice, 1'000, 3000 * kMicrosecond_ns, 1 * kMicrosecond_ns), 0);
}

TEST(TeamChoice, NearlyEqualWaysStayAsTheyAre) {
  TeamChoice choice;
  EXPECT_LT(TimesAlone(choice, 20'000, 100 * kMicrosecond_ns, 97 * kMicrosecond_ns), 1'000);
}

TEST(TeamChoice, AScopeHoldsTeamsToTheCallingThread) {
  const auto size = [] {
    int found = 0;
    RunTeam(2, [&](Team team) {
      if (team.thread == 0) {
        found = team.size;
      }
    });
    return found;
  };
  {
    const AloneScope outer(true);
    EXPECT_EQ(size(), 1);
    const AloneScope inner(false);  // does not undo the outer one
    EXPECT_EQ(size(), 1);
  }
  const AloneScope none(false);
  EXPECT_GE(size(), 1);
}

TEST(TeamChoice, WorkIsDoneOnceATime) {
  TeamChoice choice;
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    RunAsChosen(choice, [&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace lamina
