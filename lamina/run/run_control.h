// RunControl: pauses and stops a training run from another thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

namespace lamina {

/// All calls are thread-safe. One object serves one run at a time: `callbacks.stop_requested` calls StopRequested().
class RunControl {
 public:
  /// The run waits after its current step, using no processor time, until Continue() or Stop().
  void Pause();
  void Continue();
  /// Ends the run after its current step, also a paused one.
  void Stop();
  /// As new: neither paused nor stopped.
  void Reset();

  bool paused() const;
  bool stopped() const;

  /// Waits while paused; true once stopped.
  bool StopRequested();

 private:
  void Set(std::optional<bool> paused, std::optional<bool> stopped);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;
  bool stopped_ = false;
};

}  // namespace lamina
