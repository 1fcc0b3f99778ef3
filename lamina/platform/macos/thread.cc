// Mach's threads, in the place of what Linux has.
#include "lamina/platform/thread.h"

#include <mach/mach.h>
#include <pthread.h>

#include "lamina/platform/posix.h"

namespace lamina::platform {

std::optional<int64_t> ClockNumberOf(pthread_t thread) noexcept { return pthread_mach_thread_np(thread); }

int64_t ThreadClock::Time_ns() const noexcept {
  thread_basic_info_data_t info{};
  mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
  if (!known || thread_info(static_cast<thread_act_t>(number), THREAD_BASIC_INFO,
                            reinterpret_cast<thread_info_t>(&info), &count) != KERN_SUCCESS) {
    return -1;
  }
  const auto nanoseconds = [](const time_value_t& time) {
    return time.seconds * int64_t{1'000'000'000} + time.microseconds * int64_t{1000};
  };
  return nanoseconds(info.user_time) + nanoseconds(info.system_time);
}

void NameThisThread(const char* name) noexcept { pthread_setname_np(name); }
void AskForShortSlices() noexcept {}

void WaitWhile(const std::atomic<uint32_t>& word, uint32_t seen) noexcept { word.wait(seen); }
void WakeAll(const std::atomic<uint32_t>& word) noexcept { const_cast<std::atomic<uint32_t>&>(word).notify_all(); }

std::vector<uint64_t> UsableProcessors() { return {}; }  // all: none can be left out

}  // namespace lamina::platform
