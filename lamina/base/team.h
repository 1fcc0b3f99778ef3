// Threads that compute something together: a region is a function that all of them call at once, with barriers inside.
// How they wait is docs/decisions/0003-spinning-threads.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

namespace lamina {

class ThreadPool;

/// One thread of those that run a region together; all of them call the same function. With a size of 1 nothing waits.
struct Team {
  int thread = 0;
  int size = 1;
  ThreadPool* pool = nullptr;

  /// Returns when all threads of the region have come here; what they wrote before is then seen by all.
  void Barrier() const noexcept {
    if (size > 1) {
      Wait();
    }
  }
  /// This thread's part of [0, count).
  int64_t Begin(int64_t count) const { return count * thread / size; }
  int64_t End(int64_t count) const { return count * (thread + 1) / size; }

 private:
  void Wait() const noexcept;
};

/// Calls function(context, team) on the calling thread and on `threads` - 1 others, and returns when all are done. The
/// others belong to the calling thread: they are started by its first region and end with it; a child after fork()
/// starts its own. They are fewer than asked for where the system gives no more, or where other programs keep them from
/// running for so long that the calling thread is faster alone: results must not depend on Team::size.
void RunRegion(int threads, void (*function)(void*, Team), void* context) noexcept;

/// The same for a callable of a Team.
template <class Fn>
void RunTeam(int threads, const Fn& fn) noexcept {
  if (threads <= 1) {
    fn(Team{});
    return;
  }
  RunRegion(
      threads, [](void* context, Team team) { (*static_cast<const Fn*>(context))(team); },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

/// fn(begin, end) for parts of [0, count), a part a thread.
template <class Fn>
void RunParts(int threads, int64_t count, const Fn& fn) noexcept {
  RunTeam(static_cast<int>(std::clamp<int64_t>(count, 1, std::max(threads, 1))),
          [&](Team team) { fn(team.Begin(count), team.End(count)); });
}

}  // namespace lamina
