// Background: work that takes time, one piece after the other on a thread of its own.
#pragma once

#include <functional>

#include "work_thread.h"

namespace lamina::gui {

/// Work runs on the background thread and returns what to do with its result. That runs on the interface thread, unless
/// the Background is gone by then: its end waits for the running piece and drops the rest. Work must neither throw (use
/// Attempt) nor touch widgets.
class Background {
 public:
  using Then = std::function<void()>;
  void Run(std::function<Then()> work);
  /// Whether anything is running or waiting.
  bool busy() const { return waiting_ > 0; }

 private:
  int waiting_ = 0;
  CallQueue results_;
  WorkThread thread_{"background"};
};

}  // namespace lamina::gui
