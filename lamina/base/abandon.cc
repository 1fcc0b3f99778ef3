// Two pointers a thread: its own scope, which it asks, or that of the thread whose region it runs.
#include "lamina/base/abandon.h"

#include "lamina/platform/thread.h"

namespace lamina {
namespace {

constexpr int64_t kAsked_ns = 10'000'000;

thread_local AbandonScope* own = nullptr;
thread_local AbandonScope* of_region = nullptr;

}  // namespace

AbandonScope::AbandonScope(std::function<bool()> requested)
    : requested_(std::move(requested)),
      next_ns_(platform::SteadyTime_ns() + kAsked_ns),
      outer_(std::exchange(own, this)) {}

AbandonScope::~AbandonScope() { own = outer_; }

bool AbandonScope::Ask() noexcept {
  if (told_.load(std::memory_order_relaxed)) {
    return true;
  }
  const int64_t now = platform::SteadyTime_ns();
  if (now < next_ns_) {
    return false;
  }
  next_ns_ = now + kAsked_ns;
  bool told = true;
  try {
    told = requested_ && requested_();
  } catch (...) {
    failure_ = std::current_exception();
  }
  told_.store(told, std::memory_order_relaxed);
  return told;
}

bool Abandoned() noexcept {
  if (of_region != nullptr) {
    return of_region->told_.load(std::memory_order_relaxed);
  }
  return own != nullptr && own->Ask();
}

AbandonScope* AbandonedTogether::Own() noexcept { return own; }
AbandonedTogether::AbandonedTogether(AbandonScope* scope) noexcept { of_region = scope; }
AbandonedTogether::~AbandonedTogether() { of_region = nullptr; }

}  // namespace lamina
