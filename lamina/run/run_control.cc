// Pause and stop: callers set two flags; after each step the training thread waits or ends by them.
#include "lamina/run/run_control.h"

namespace lamina {

void RunControl::Set(std::optional<bool> paused, std::optional<bool> stopped) {
  {
    const std::lock_guard lock(mutex_);
    paused_ = paused.value_or(paused_);
    stopped_ = stopped.value_or(stopped_);
  }
  changed_.notify_all();
}

void RunControl::Pause() { Set(true, std::nullopt); }
void RunControl::Continue() { Set(false, std::nullopt); }
void RunControl::Stop() { Set(false, true); }
void RunControl::Reset() { Set(false, false); }

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

bool RunControl::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

bool RunControl::StopRequested() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !paused_ || stopped_; });
  return stopped_;
}

}  // namespace lamina
