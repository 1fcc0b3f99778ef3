// futex(2), and what else of threads only Linux has.
#include "lamina/platform/thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "lamina/platform/posix.h"

namespace lamina::platform {

std::optional<int64_t> ClockNumberOf(pthread_t thread) noexcept {
  clockid_t clock{};
  return pthread_getcpuclockid(thread, &clock) == 0 ? std::optional<int64_t>(clock) : std::nullopt;
}

int64_t ThreadClock::Time_ns() const noexcept { return known ? TimeOf_ns(static_cast<clockid_t>(number)) : -1; }

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

void WaitWhile(const std::atomic<uint32_t>& word, uint32_t seen) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void WakeAll(const std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
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

}  // namespace lamina::platform
