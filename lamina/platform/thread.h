// Threads, their clocks, and words that they wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lamina::platform {

/// Time that only goes on.
int64_t SteadyTime_ns() noexcept;

/// The processor time of one thread, which others may ask.
struct ThreadClock {
  int64_t number = 0;
  bool known = false;

  /// -1 where it cannot be asked.
  int64_t Time_ns() const noexcept;
};
ThreadClock ClockOfThisThread() noexcept;
/// Whether such clocks tell within microseconds who is running.
#if defined(_WIN32)
inline constexpr bool kThreadClocksTell = false;
#else
inline constexpr bool kThreadClocksTell = true;
#endif

/// A thread that was started and must be joined.
struct ThreadHandle {
  uintptr_t value = 0;
};
/// Runs function(argument) on a new thread and gives its clock; nothing where the system has no thread left.
std::optional<ThreadHandle> StartThread(void (*function)(void*), void* argument, ThreadClock& clock) noexcept;
void JoinThread(ThreadHandle thread) noexcept;

/// Lets others run.
void LetOthersRun() noexcept;
/// The name that debuggers and lists of threads show: 15 bytes at most.
void NameThisThread(const char* name) noexcept;
/// For a thread that sleeps most of the time: that it need not wait for the slice of one that computes to end.
void AskForShortSlices() noexcept;
/// Calls in the child of every fork() from now on.
void AfterFork(void (*call)()) noexcept;

/// Sleeps until WakeAll() as long as the word is `seen`; may come back before.
void WaitWhile(const std::atomic<uint32_t>& word, uint32_t seen) noexcept;
void WakeAll(const std::atomic<uint32_t>& word) noexcept;

/// While it exists, threads that the calling one starts have all signals blocked: they are for the threads that the
/// host knows. But for those of a thread's own faults, which end a process, past any handler, where they are blocked.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  alignas(16) std::array<std::byte, 128> before_{};  // a sigset_t
};

/// The processors that this process may use, as bits; empty where it cannot be told.
std::vector<uint64_t> UsableProcessors();
int CountOf(std::span<const uint64_t> processors) noexcept;
/// Those that are running.
int64_t RunningProcessors() noexcept;
/// How many threads of all programs wanted a processor lately; 0 where it cannot be told.
double LoadAverage() noexcept;

}  // namespace lamina::platform
