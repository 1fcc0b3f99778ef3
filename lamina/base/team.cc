// Worker threads that wait by spinning as long as those they wait for are running, and sleep otherwise.
#include "lamina/base/team.h"

#include <strings.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "lamina/base/abandon.h"
#include "lamina/base/hardware.h"
#include "lamina/base/team_choice.h"
#include "lamina/platform/thread.h"

namespace lamina {
namespace {

constexpr int64_t kMicrosecond_ns = 1000;
constexpr int64_t kMillisecond_ns = 1000 * kMicrosecond_ns;
// A wait begins by spinning for so long without asking who is running: most barriers of a step are over by then.
constexpr int64_t kFirstSpin_ns = 10 * kMicrosecond_ns;
// Then those waited for are looked at after every slice of so long (0.3 us each look).
constexpr int64_t kSlice_ns = 10 * kMicrosecond_ns;
// Nobody spins longer than this: the calling thread may have gone on to other things.
constexpr int64_t kLongestSpin_ns = 2 * kMillisecond_ns;
// Nor at all after the first spin where the host says so in the words that libgomp takes: many programs share the
// cores.
bool ToldToSleep() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  return policy != nullptr && strcasecmp(policy, "passive") == 0;
}
// The share of its threads' time that a team spends waiting for threads that are not running. Above it other programs
// keep the cores from the team, and two threads are no faster than one.
constexpr double kLostShare = 0.4;
constexpr int64_t kJudged_ns = 5 * kMillisecond_ns;  // after so much time in regions
// So long the calling thread then goes on alone before it tries again. Doubled each time, up to the longest.
constexpr int64_t kAlone_ns = 20 * kMillisecond_ns;
constexpr int64_t kLongestAlone_ns = 640 * kMillisecond_ns;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // "yield" does nothing on most of them
#endif
}

// Counts forks: a child has none of its parent's threads.
std::atomic<int> forks{0};

// Set by AloneScope.
thread_local bool alone = false;

}  // namespace

/// The calling thread (member 0) and its workers.
class ThreadPool {
 public:
  ThreadPool() : born_(forks.load(std::memory_order_relaxed)) { members_[0].Start(); }
  ~ThreadPool() {
    if (born_ != forks.load(std::memory_order_relaxed)) {
      return;  // the threads are the parent's
    }
    Start(size_, kEnd);
    for (int i = 1; i < size_; ++i) {
      platform::JoinThread(members_[static_cast<size_t>(i)].handle);
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  bool OfThisProcess() const { return born_ == forks.load(std::memory_order_relaxed); }

  void Run(int threads, void (*function)(void*, Team), void* context) {
    const int64_t start = platform::SteadyTime_ns();
    if (start < alone_until_ns_ || running_) {  // inside a region: this thread's workers are taken
      function(context, {});
      return;
    }
    const int size = Grow(std::min(threads, kMostThreads));
    if (size == 1) {
      function(context, {});
      return;
    }
    running_ = true;
    members_[0].at_work_since_ns = start;
    crowded_.store(size > cores_, std::memory_order_relaxed);
    function_ = function;
    context_ = context;
    scope_ = AbandonedTogether::Own();
    left_.store(static_cast<uint32_t>(size - 1), std::memory_order_relaxed);
    Start(size, static_cast<uint32_t>(size));
    function(context, {0, size, this});
    for (uint32_t left = left_.load(std::memory_order_acquire); left != 0;
         left = left_.load(std::memory_order_acquire)) {
      WaitFor(left_, left, {0, size, &sleepers_});
    }
    running_ = false;
    const int64_t end = platform::SteadyTime_ns();
    Judge(end - start, end, size);
  }

  void Barrier(int self, int size) {
    const uint32_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(size)) {
      arrived_.store(0, std::memory_order_relaxed);
      for (int i = 0; i < size; ++i) {
        Member& member = members_[static_cast<size_t>(i)];
        member.waiting.store(false, std::memory_order_relaxed);  // from now on others wait for those that sleep here
        for (std::atomic<int>& taken : member.taken) {
          taken.store(0, std::memory_order_relaxed);
        }
      }
      phase_.store(phase + 1, std::memory_order_seq_cst);
      if (sleepers_.load(std::memory_order_seq_cst) > 0) {
        platform::WakeAll(phase_);
      }
      return;
    }
    WaitFor(phase_, phase, {self, size, &sleepers_});
  }

  TeamWaits Waits() const {
    TeamWaits all;
    for (const Member& member : members_) {
      all.spun += member.spun.load(std::memory_order_relaxed);
      all.slept += member.slept.load(std::memory_order_relaxed);
    }
    return all;
  }

  int Take(int loop, int owner) {
    return members_[static_cast<size_t>(owner)].taken[static_cast<size_t>(loop)].fetch_add(1,
                                                                                           std::memory_order_relaxed);
  }

 private:
  // The word that starts a worker on a region counts its regions and holds the size of this one.
  static constexpr uint32_t kSizeMask = 0x3FF;
  static constexpr uint32_t kNextRegion = kSizeMask + 1;
  static constexpr uint32_t kEnd = 0;  // a size that no region has: the workers end
  static constexpr int kMostThreads = 512;

  struct alignas(64) Member {
    platform::ThreadHandle handle;
    platform::ThreadClock clock;
    std::atomic<uint32_t> region{0};    // the last one it was started for
    std::atomic<uint32_t> sleepers{0};  // 1: it sleeps until the next
    std::atomic<bool> waiting{false};
    std::atomic<int64_t> spun{0};  // waits; written by this member alone
    std::atomic<int64_t> slept{0};
    int64_t at_work_since_ns = 0;                                          // where clocks tell nothing
    alignas(64) std::array<std::atomic<int>, Team::kSharedLoops> taken{};  // bits of its rest in Team::Share()
    ThreadPool* pool = nullptr;
    int index = 0;

    void Start() { clock = platform::ClockOfThisThread(); }
  };

  // Starts workers up to a team of `threads`; returns how many it can have.
  int Grow(int threads) {
    if (threads <= size_) {
      return threads;
    }
    const platform::BlockedSignals blocked;
    for (; size_ < threads; ++size_) {
      Member& member = members_[static_cast<size_t>(size_)];
      member.pool = this;
      member.index = size_;
      const auto work = [](void* argument) {
        const Member& self = *static_cast<Member*>(argument);
        self.pool->Work(self.index);
      };
      const auto started = platform::StartThread(work, &member, member.clock);
      if (!started) {
        break;
      }
      member.handle = *started;
    }
    return size_;
  }

  void Work(int self) {
    const AloneScope alone_in_regions(true);
    Member& member = members_[static_cast<size_t>(self)];
    for (uint32_t seen = 0;;) {  // no region has number 0: one that it was started for before it ran is not missed
      WaitFor(member.region, seen, {self, 1, &member.sleepers});
      seen = member.region.load(std::memory_order_acquire);
      const int size = static_cast<int>(seen & kSizeMask);
      if (size == static_cast<int>(kEnd)) {
        return;
      }
      const AbandonedTogether together(scope_);
      function_(context_, {self, size, this});
      const uint32_t left = left_.fetch_sub(1, std::memory_order_seq_cst);
      if (left == 1 && sleepers_.load(std::memory_order_seq_cst) > 0) {
        platform::WakeAll(left_);
      }
    }
  }

  // Tells workers [1, members) that a region of `size` threads begins.
  void Start(int members, uint32_t size) {
    for (int i = 1; i < members; ++i) {
      Member& member = members_[static_cast<size_t>(i)];
      member.waiting.store(false, std::memory_order_relaxed);
      const uint32_t last = member.region.load(std::memory_order_relaxed) & ~kSizeMask;
      member.region.store(last + kNextRegion + size, std::memory_order_seq_cst);
      if (member.sleepers.load(std::memory_order_seq_cst) > 0) {
        platform::WakeAll(member.region);
      }
    }
  }

  // Processor time of the members [0, size) that are not waiting, without this one; -1 where one cannot be asked. All
  // members count where they wait asleep. *count: how many are not waiting.
  int64_t WorkersTime_ns(int self, int size, int* count) const {
    int64_t sum = 0;
    *count = 0;
    for (int i = 0; i < size; ++i) {
      const Member& member = members_[static_cast<size_t>(i)];
      const bool waiting = member.waiting.load(std::memory_order_relaxed);
      if (i == self || (waiting && longest_spin_ns_ > 0)) {
        continue;
      }
      const int64_t time = member.clock.Time_ns();
      if (time < 0) {
        return -1;
      }
      sum += time;
      *count += waiting ? 0 : 1;
    }
    return sum;
  }

  struct Waiter {
    int self;  // who waits
    int size;  // for members [0, size)
    std::atomic<uint32_t>* sleepers;
  };

  // Until `word` is no longer `seen`.
  void WaitFor(const std::atomic<uint32_t>& word, uint32_t seen, const Waiter& waiter) {
    if constexpr (platform::kThreadClocksTell) {
      WaitAndTell(word, seen, waiter);
    } else {
      // Nobody says who is running. All members have equally much to do. So a wait that is longer than any spin, and
      // than the work before it, is for one that another program keeps from its core.
      int64_t& since = members_[static_cast<size_t>(waiter.self)].at_work_since_ns;
      const int64_t start = platform::SteadyTime_ns();
      WaitAndTell(word, seen, waiter);
      const int64_t now = platform::SteadyTime_ns();
      if (waiter.sleepers == &sleepers_ && now - start > kLongestSpin_ns) {
        lost_ns_.fetch_add(std::max<int64_t>(0, (now - start) - (start - since)), std::memory_order_relaxed);
      }
      since = now;
    }
  }

  // The same; counts the time in which others did not run.
  void WaitAndTell(const std::atomic<uint32_t>& word, uint32_t seen, const Waiter& waiter) {
    const auto spin_until = [&](int64_t end) {
      do {
        for (int i = 0; i < 16; ++i) {
          if (word.load(std::memory_order_acquire) != seen) {
            return true;
          }
          Pause();
        }
      } while (platform::SteadyTime_ns() < end);
      return false;
    };
    const int64_t start = platform::SteadyTime_ns();
    const bool crowded = crowded_.load(std::memory_order_relaxed);
    Member& self = members_[static_cast<size_t>(waiter.self)];
    const auto count = [](std::atomic<int64_t>& waits) {
      waits.store(waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    };
    if (!crowded) {
      count(self.spun);
      if (spin_until(start + kFirstSpin_ns)) {
        return;
      }
    }
    std::atomic<bool>& waiting = self.waiting;
    waiting.store(true, std::memory_order_relaxed);
    bool running = true;
    int64_t slice = platform::SteadyTime_ns();
    while (running && !crowded && slice - start < longest_spin_ns_) {
      int before_count = 0;
      int after_count = 0;
      const int64_t before = WorkersTime_ns(waiter.self, waiter.size, &before_count);
      if (spin_until(slice + kSlice_ns)) {
        waiting.store(false, std::memory_order_relaxed);
        return;
      }
      const int64_t after = WorkersTime_ns(waiter.self, waiter.size, &after_count);
      const int64_t now = platform::SteadyTime_ns();
      // Whoever came to wait meanwhile is not counted any more: then another slice tells. Where nobody tells, as under
      // an emulator, waits are short.
      running = before_count != after_count || after_count == 0 || 2 * (after - before) > (now - slice) * after_count;
      slice = now;
    }
    int others = 0;
    const int64_t before = longest_spin_ns_ > 0 ? -1 : WorkersTime_ns(waiter.self, waiter.size, &others);
    count(self.slept);
    waiter.sleepers->fetch_add(1, std::memory_order_seq_cst);
    while (word.load(std::memory_order_seq_cst) == seen) {
      platform::WaitWhile(word, seen);
    }
    waiter.sleepers->fetch_sub(1, std::memory_order_relaxed);
    waiting.store(false, std::memory_order_relaxed);
    if (before >= 0 && waiter.sleepers == &sleepers_) {  // nobody looked who was running
      int unused = 0;
      const int64_t after = WorkersTime_ns(waiter.self, waiter.size, &unused);
      running = others == 0 || 2 * (after - before) > (platform::SteadyTime_ns() - slice) * others;
    }
    if (waiter.sleepers == &sleepers_ && !running) {
      lost_ns_.fetch_add(platform::SteadyTime_ns() - slice, std::memory_order_relaxed);
    }
  }

  // After a region of `took_ns`: whether the team gained anything lately.
  void Judge(int64_t took_ns, int64_t now, int size) {
    region_ns_ += took_ns * size;
    if (region_ns_ < kJudged_ns * size) {
      return;
    }
    const auto lost = static_cast<double>(lost_ns_.exchange(0, std::memory_order_relaxed));
    if (lost > kLostShare * static_cast<double>(region_ns_)) {
      alone_ns_ = std::clamp(2 * alone_ns_, kAlone_ns, kLongestAlone_ns);
      alone_until_ns_ = now + alone_ns_;
    } else {
      alone_ns_ = 0;
    }
    region_ns_ = 0;
  }

  const int born_;
  const int64_t longest_spin_ns_ = ToldToSleep() ? 0 : kLongestSpin_ns;
  const int cores_ = UsableCores();
  std::atomic<bool> crowded_{false};  // the team is larger: whoever spins keeps a core from those it waits for
  std::vector<Member> members_ = std::vector<Member>(kMostThreads);
  int size_ = 1;  // members that exist
  bool running_ = false;
  int64_t alone_until_ns_ = 0;
  int64_t alone_ns_ = 0;
  int64_t region_ns_ = 0;  // time of threads in regions since the last judgment
  void (*function_)(void*, Team) = nullptr;
  void* context_ = nullptr;
  AbandonScope* scope_ = nullptr;
  alignas(64) std::atomic<uint32_t> phase_{0};
  alignas(64) std::atomic<uint32_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> left_{0};
  alignas(64) std::atomic<uint32_t> sleepers_{0};  // in regions
  std::atomic<int64_t> lost_ns_{0};
};

void Team::Wait() const noexcept { pool->Barrier(thread, size); }
int Team::Take(int loop, int owner) const noexcept { return pool->Take(loop, owner); }

AloneScope::AloneScope(bool is_alone) : before_(alone) { alone = alone || is_alone; }
AloneScope::~AloneScope() { alone = before_; }

namespace {

// That of the calling thread.
std::unique_ptr<ThreadPool>& OwnPool() {
  thread_local std::unique_ptr<ThreadPool> pool;
  return pool;
}

}  // namespace

TeamWaits WaitsOfTeam() { return OwnPool() == nullptr ? TeamWaits{} : OwnPool()->Waits(); }

void RunRegion(int threads, void (*function)(void*, Team), void* context) noexcept {
  if (alone) {
    function(context, {});
    return;
  }
  static std::once_flag once;
  std::call_once(once, [] { platform::AfterFork([] { forks.fetch_add(1, std::memory_order_relaxed); }); });
  std::unique_ptr<ThreadPool>& pool = OwnPool();
  if (pool == nullptr || !pool->OfThisProcess()) {
    // After a fork the old one's threads are gone; its memory stays, as they may have held it.
    static_cast<void>(pool.release());
    pool = std::make_unique<ThreadPool>();
  }
  pool->Run(threads, function, context);
}

}  // namespace lamina
