// pthreads(7) and futex(2).
#include "lamina/platform/thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <numeric>

namespace lamina::platform {
namespace {

static_assert(sizeof(pthread_t) == sizeof(uintptr_t));
static_assert(sizeof(sigset_t) <= 128);

int64_t TimeOf_ns(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec : -1;
}

ThreadClock ClockOf(pthread_t thread) {
  clockid_t clock{};
  const bool known = pthread_getcpuclockid(thread, &clock) == 0;
  return {clock, known};
}

}  // namespace

int64_t SteadyTime_ns() noexcept { return TimeOf_ns(CLOCK_MONOTONIC); }
int64_t ThreadClock::Time_ns() const noexcept { return known ? TimeOf_ns(static_cast<clockid_t>(number)) : -1; }
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

void Yield() noexcept { sched_yield(); }
void NameThisThread(const char* name) noexcept { pthread_setname_np(pthread_self(), name); }

// The slice is 3 ms: a kernel from 6.12 on lets threads with shorter slices go first. Others do it without being asked.
void AskForShortSlices() noexcept {
  struct {  // sched_attr of the kernel, as far as it had it at first
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
  } attributes{};
  constexpr uint64_t kSlice_ns = 100'000;  // the shortest there is
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0) {
    attributes.runtime_ns = kSlice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
  }
}

void AfterFork(void (*call)()) noexcept { pthread_atfork(nullptr, nullptr, call); }

void WaitWhile(const std::atomic<uint32_t>& word, uint32_t seen) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void WakeAll(const std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

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

std::vector<uint64_t> UsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {  // more than 1024 processors
    return {};
  }
  std::vector<uint64_t> bits(sizeof(set) / sizeof(uint64_t));
  std::memcpy(bits.data(), &set, sizeof(set));
  return bits;
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
