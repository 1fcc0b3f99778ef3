// Threads of the C++ library, and the words that they wait for.
#include "lamina/platform/thread.h"

#include <pthread.h>

#include <bit>
#include <memory>
#include <new>
#include <numeric>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

static_assert(sizeof(pthread_t) == sizeof(uintptr_t));

struct Work {
  void (*function)(void*);
  void* argument;
};

void* RunWork(void* given) {
  const Work mine = *static_cast<Work*>(given);
  delete static_cast<Work*>(given);
  mine.function(mine.argument);
  return nullptr;
}

}  // namespace

int64_t SteadyTime_ns() noexcept {
  static const int64_t per_second = [] {
    LARGE_INTEGER frequency{};
    QueryPerformanceFrequency(&frequency);
    return frequency.QuadPart;
  }();
  constexpr int64_t kSecond_ns = 1'000'000'000;
  LARGE_INTEGER ticks{};
  QueryPerformanceCounter(&ticks);
  return ticks.QuadPart / per_second * kSecond_ns + ticks.QuadPart % per_second * kSecond_ns / per_second;
}

// The system counts a thread's time when its slice ends (15 ms), which tells nothing of waits of microseconds
// (kThreadClocksTell). So every thread is taken for one that runs.
int64_t ThreadClock::Time_ns() const noexcept { return known ? SteadyTime_ns() : -1; }
ThreadClock ClockOfThisThread() noexcept { return {.known = true}; }

std::optional<ThreadHandle> StartThread(void (*function)(void*), void* argument, ThreadClock& clock) noexcept {
  std::unique_ptr<Work> work(new (std::nothrow) Work{function, argument});
  if (work == nullptr) {
    return std::nullopt;
  }
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, RunWork, work.get()) != 0) {
    return std::nullopt;
  }
  static_cast<void>(work.release());
  clock = ClockOfThisThread();
  return ThreadHandle{std::bit_cast<uintptr_t>(thread)};
}

void JoinThread(ThreadHandle thread) noexcept { pthread_join(std::bit_cast<pthread_t>(thread.value), nullptr); }

void LetOthersRun() noexcept { SwitchToThread(); }
void NameThisThread(const char*) noexcept {}
void AskForShortSlices() noexcept {}
void AfterFork(void (*)()) noexcept {}  // there is none

void WaitWhile(const std::atomic<uint32_t>& word, uint32_t seen) noexcept {
  WaitOnAddress(const_cast<std::atomic<uint32_t>*>(&word), &seen, sizeof seen, INFINITE);
}
void WakeAll(const std::atomic<uint32_t>& word) noexcept {
  WakeByAddressAll(const_cast<std::atomic<uint32_t>*>(&word));
}

BlockedSignals::BlockedSignals() { static_cast<void>(before_); }
BlockedSignals::~BlockedSignals() = default;

// The mask is that of one processor group. Windows 11 runs the threads of a process in all groups, which it cannot say.
std::vector<uint64_t> UsableProcessors() {
  DWORD_PTR own = 0;
  DWORD_PTR all = 0;
  if (GetActiveProcessorGroupCount() > 1 || GetProcessAffinityMask(GetCurrentProcess(), &own, &all) == 0) {
    return {};
  }
  return {own};
}

int CountOf(std::span<const uint64_t> processors) noexcept {
  return std::accumulate(processors.begin(), processors.end(), 0,
                         [](int sum, uint64_t word) { return sum + std::popcount(word); });
}

double LoadAverage() noexcept { return 0; }

int64_t RunningProcessors() noexcept { return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); }

}  // namespace lamina::platform
