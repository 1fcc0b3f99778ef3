// pthreads(7).
#include "lamina/platform/thread.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <numeric>

#include "lamina/platform/posix.h"

namespace lamina::platform {
namespace {

static_assert(sizeof(pthread_t) == sizeof(uintptr_t));
static_assert(sizeof(sigset_t) <= 128);

ThreadClock ClockOf(pthread_t thread) noexcept {
  const std::optional<int64_t> number = ClockNumberOf(thread);
  return {number.value_or(0), number.has_value()};
}

}  // namespace

int64_t TimeOf_ns(clockid_t clock) noexcept {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec : -1;
}

int64_t SteadyTime_ns() noexcept { return TimeOf_ns(CLOCK_MONOTONIC); }
ThreadClock ClockOfThisThread() noexcept { return ClockOf(pthread_self()); }

std::optional<ThreadHandle> StartThread(void (*function)(void*), void* argument, ThreadClock& clock) noexcept {
  struct Work {
    void (*function)(void*);
    void* argument;
  };
  std::unique_ptr<Work> work(new (std::nothrow) Work{function, argument});
  pthread_t thread{};
  const auto run = [](void* given) -> void* {
    const Work mine = *static_cast<Work*>(given);
    delete static_cast<Work*>(given);
    mine.function(mine.argument);
    return nullptr;
  };
  if (work == nullptr || pthread_create(&thread, nullptr, run, work.get()) != 0) {
    return std::nullopt;
  }
  static_cast<void>(work.release());
  clock = ClockOf(thread);
  return ThreadHandle{std::bit_cast<uintptr_t>(thread)};
}

void JoinThread(ThreadHandle thread) noexcept { pthread_join(std::bit_cast<pthread_t>(thread.value), nullptr); }

void LetOthersRun() noexcept { sched_yield(); }

void AfterFork(void (*call)()) noexcept { pthread_atfork(nullptr, nullptr, call); }

BlockedSignals::BlockedSignals() {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int own_fault : {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV}) {
    sigdelset(&blocked, own_fault);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, reinterpret_cast<sigset_t*>(before_.data()));
}

BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, reinterpret_cast<const sigset_t*>(before_.data()), nullptr);
}

int CountOf(std::span<const uint64_t> processors) noexcept {
  return std::accumulate(processors.begin(), processors.end(), 0,
                         [](int sum, uint64_t word) { return sum + std::popcount(word); });
}

double LoadAverage() noexcept {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

int64_t RunningProcessors() noexcept { return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace lamina::platform
