// The order of work on an emulated GPU: three queues, each done in its order; nothing else is in time unless asked for.
// A queue is eager (everything at once, after what it must wait for) or late (only when somebody waits). A result that
// depends on an order nobody asked for comes out wrong in one of the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace lamina::cuda_emulated {

enum Lane : size_t { kWork, kUploads, kDownloads, kLanes };

class Queues {
 public:
  /// Bit i: lane i is late, for all emulated GPUs made from now on.
  static void SetLate(unsigned lanes) { late_of_new = lanes; }

  int64_t Ask(Lane lane, std::function<void()> run) {
    const std::lock_guard lock(mutex_);
    waiting_[lane].push_back({std::move(run), after_[lane]});
    ++asked_[lane];
    if ((late_ >> lane & 1U) == 0) {
      RunUntil(lane, asked_[lane]);
    }
    return asked_[lane];
  }
  void RunAll(Lane lane) {
    const std::lock_guard lock(mutex_);
    RunUntil(lane, asked_[lane]);
  }
  void RunUntil(Lane lane, int64_t count) {
    const std::lock_guard lock(mutex_);
    while (done_[lane] < count) {
      const Item item = std::move(waiting_[lane].front());
      waiting_[lane].pop_front();
      for (size_t other = 0; other < kLanes; ++other) {
        RunUntil(static_cast<Lane>(other), item.after[other]);
      }
      item.run();
      ++done_[lane];
    }
  }
  /// What is asked of `later` from now on comes after all that was asked of `earlier`.
  void Order(Lane earlier, Lane later) {
    const std::lock_guard lock(mutex_);
    after_[later][earlier] = asked_[earlier];
  }

 private:
  using Counts = std::array<int64_t, kLanes>;
  struct Item {
    std::function<void()> run;
    Counts after;
  };
  inline static unsigned late_of_new = 0;

  std::recursive_mutex mutex_;
  const unsigned late_ = late_of_new;
  std::array<std::deque<Item>, kLanes> waiting_;
  Counts asked_{};
  Counts done_{};
  std::array<Counts, kLanes> after_{};
};

}  // namespace lamina::cuda_emulated
