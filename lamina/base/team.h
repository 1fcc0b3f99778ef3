// Threads that compute something together: a region is a function that all of them call at once, with barriers inside.
// How they wait is docs/decisions/0003-spinning-threads.md.
#pragma once

#include <algorithm>
#include <atomic>
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

  /// fn(begin, end) for disjoint parts of [0, count), which all threads together cover. A thread does three quarters of
  /// its own part, then pieces of any part that is left: slower threads do less. `loop` numbers such loops since the
  /// last barrier; a barrier precedes the first. Every thread makes the call with the same numbers.
  template <class Fn>
  void Share(int64_t count, int loop, const Fn& fn) const {
    if (size == 1 || loop >= kSharedLoops) {
      fn(Begin(count), End(count));
      return;
    }
    const auto own = [count](Team member) { return (member.End(count) - member.Begin(count)) / 4 * 3; };
    fn(Begin(count), Begin(count) + own(*this));
    // The rests of all threads, each in kBits parts; this thread's own come first.
    constexpr int kBits = 4;
    for (int i = 0; i < size; ++i) {
      const Team owner{(thread + i) % size, size, pool};
      const int64_t begin = owner.Begin(count) + own(owner);
      const int64_t rest = owner.End(count) - begin;
      for (int bit = Take(loop, owner.thread); bit < kBits; bit = Take(loop, owner.thread)) {
        fn(begin + rest * bit / kBits, begin + rest * (bit + 1) / kBits);
      }
    }
  }
  static constexpr int kSharedLoops = 8;

 private:
  void Wait() const noexcept;
  int Take(int loop, int owner) const noexcept;
};

/// Calls function(context, team) on the calling thread and on `threads` - 1 others; returns when all are done. The
/// calling thread owns the others: its first region starts them, and they end with it. A child starts its own after
/// fork(). They are fewer where the system gives no more, or where other programs delay them so long that one thread is
/// faster. Results must not depend on Team::size.
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

/// fn(i) for each i in [0, count): whoever is free takes the next one. For pieces of unlike length.
template <class Fn>
void RunEach(int threads, int64_t count, const Fn& fn) noexcept {
  std::atomic<int64_t> next{0};
  RunTeam(static_cast<int>(std::clamp<int64_t>(count, 1, std::max(threads, 1))), [&](Team) {
    for (int64_t i = next++; i < count; i = next++) {
      fn(i);
    }
  });
}

}  // namespace lamina
