// Long kernels that may be left in the middle: whoever began them throws away what they wrote.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

namespace lamina {

/// While it exists, long kernel loops that this thread or its team (base/team.h) runs ask `requested`, on this thread,
/// a few times a second. Once it says true they leave as soon as they can. What the thread has computed since the scope
/// began is then void, and told() says so. In nested scopes the innermost is asked.
class AbandonScope {
 public:
  explicit AbandonScope(std::function<bool()> requested);
  ~AbandonScope();
  AbandonScope(const AbandonScope&) = delete;
  AbandonScope& operator=(const AbandonScope&) = delete;

  /// Whether a loop was told to leave. Throws what `requested` threw, which tells them, too.
  bool told() const {
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    return told_.load(std::memory_order_relaxed);
  }

 private:
  friend bool Abandoned() noexcept;
  friend class AbandonedTogether;
  bool Ask() noexcept;

  std::function<bool()> requested_;
  std::exception_ptr failure_;
  std::atomic<bool> told_{false};
  int64_t next_ns_ = 0;  // when `requested` is asked again
  AbandonScope* outer_;
};

/// Whether this thread's kernel is to leave: nanoseconds, for loops whose round takes some microseconds. Barriers must
/// be met all the same: threads of a team may hear of it one after the other.
bool Abandoned() noexcept;

/// For a thread of a team while it runs a region: it heeds the scope of the thread that made the region.
class AbandonedTogether {
 public:
  /// The calling thread's scope, for its team.
  static AbandonScope* Own() noexcept;
  explicit AbandonedTogether(AbandonScope* scope) noexcept;
  ~AbandonedTogether();
  AbandonedTogether(const AbandonedTogether&) = delete;
  AbandonedTogether& operator=(const AbandonedTogether&) = delete;
};

}  // namespace lamina
