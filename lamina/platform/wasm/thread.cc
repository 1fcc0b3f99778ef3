// One thread: others would need memory that a page shares, which browsers give to few pages.
#include "lamina/platform/thread.h"

#include <bit>
#include <ctime>
#include <numeric>

namespace lamina::platform {

int64_t SteadyTime_ns() noexcept {
  timespec time{};
  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec : -1;
}
int64_t ThreadClock::Time_ns() const noexcept { return -1; }
ThreadClock ClockOfThisThread() noexcept { return {}; }

std::optional<ThreadHandle> StartThread(void (*)(void*), void*, ThreadClock&) noexcept { return std::nullopt; }
void JoinThread(ThreadHandle) noexcept {}

void Yield() noexcept {}
void NameThisThread(const char*) noexcept {}
void AskForShortSlices() noexcept {}
void AfterFork(void (*)()) noexcept {}

void WaitWhile(const std::atomic<uint32_t>&, uint32_t) noexcept {}
void WakeAll(const std::atomic<uint32_t>&) noexcept {}

BlockedSignals::BlockedSignals() = default;
BlockedSignals::~BlockedSignals() = default;

std::vector<uint64_t> UsableProcessors() { return {1}; }
int CountOf(std::span<const uint64_t> processors) noexcept {
  return std::accumulate(processors.begin(), processors.end(), 0,
                         [](int sum, uint64_t word) { return sum + std::popcount(word); });
}
int64_t RunningProcessors() noexcept { return 1; }
double LoadAverage() noexcept { return 0; }

}  // namespace lamina::platform
