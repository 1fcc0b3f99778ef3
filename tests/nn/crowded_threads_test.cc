// Training by more threads than there are cores: whoever waits sleeps at once and gives its core to those that work.
#include <algorithm>
#include <thread>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/buffer.h"
#include "lamina/base/hardware.h"
#include "lamina/base/team_choice.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/network.h"

namespace lamina {
namespace {

struct WaitsOfSteps {
  TeamWaits before;
  TeamWaits after;
};

// The waits of a team of its own, whose threads have begun before.
WaitsOfSteps TrainWith(const char* backend_name, int threads) {
  WaitsOfSteps waits;
  std::thread([&] {
    constexpr int64_t kRows = 1024;
    constexpr int64_t kWaits = 200;
    const std::unique_ptr<Backend> backend = MakeBackend(backend_name, {.threads = threads});
    Network network(ParseLayers("dot-tanh:128,dot-identity:2", 64, /*bias=*/true), DType::kF32);
    network.Initialize(Initialization::kGlorotUniform, 1);
    ExecutorOptions options;
    options.max_batch = kRows;
    options.training = true;
    Executor executor(network, *backend, options);
    Matrix x(kRows, 64, DType::kF32);
    Matrix targets(kRows, 2, DType::kF32);
    std::fill_n(x.Row<float>(0), kRows * 64, 0.5F);
    UpdateRule rule;
    LossSums sums;
    executor.Step(x.view(), targets.view(), nullptr, &rule, &sums);
    waits.before = WaitsOfTeam();
    waits.after = waits.before;
    // A team that other programs keep from running goes on alone for a while: then nobody waits.
    for (int step = 0; step < 3000 && waits.after.slept < waits.before.slept + kWaits; ++step) {
      executor.Step(x.view(), targets.view(), nullptr, &rule, &sums);
      waits.after = WaitsOfTeam();
    }
  }).join();
  return waits;
}

TEST(CrowdedThreads, WaitAsleepOnEveryBackendOfTheTeam) {
  for (const char* backend : {"threads", "cpu"}) {
    const WaitsOfSteps waits = TrainWith(backend, std::min(32 * UsableCores(), 256));
    if (waits.after.spun + waits.after.slept == 0) {
      GTEST_SKIP() << "the system gives no more threads than cores";
    }
    const int64_t slept = waits.after.slept - waits.before.slept;
    const int64_t spun = waits.after.spun - waits.before.spun;
    EXPECT_GT(slept, 0) << backend;
    EXPECT_LT(4 * spun, slept) << backend << ": " << spun;  // small pieces of work go to fewer threads than cores
  }
}

}  // namespace
}  // namespace lamina
