// Who is asked at a stop point, and what becomes of the work.
#include "lamina/base/stop.h"

#include <thread>

#include "gtest/gtest.h"

namespace lamina {
namespace {

TEST(StopPoint, AsksTheInnermostScopeOfItsThread) {
  EXPECT_NO_THROW(StopPoint());  // nobody is asked
  const StopScope outer([] { return true; });
  EXPECT_THROW(StopPoint(), Stopped);
  {
    const StopScope inner([] { return false; });
    EXPECT_NO_THROW(StopPoint());
    EXPECT_FALSE(StopRequested());
  }
  EXPECT_TRUE(StopRequested());
  bool elsewhere = true;
  std::thread([&] { elsewhere = StopRequested(); }).join();
  EXPECT_FALSE(elsewhere);
}

}  // namespace
}  // namespace lamina
