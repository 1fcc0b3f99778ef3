// A thread beside the one that computes, which talks to the other ranks meanwhile.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "lamina/cluster/communicator.h"

namespace lamina {

/// Does tasks one after the other. It has its own thread where the ranks can talk from any (Communicator::AnyThread),
/// else it uses the caller's. Between Do() and the end of Finish() nobody else talks to `ranks`, which must outlive
/// this. One caller at a time.
class TaskThread {
 public:
  explicit TaskThread(Communicator& ranks);
  ~TaskThread() { End(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void Do(std::function<void()> task);
  /// Returns when all tasks are done, and tells the communicator what of their time was hidden. Throws on what the
  /// first task that failed threw; those after it were not begun.
  void Finish();
  /// Ends the thread. If Finish() has not waited, the task under way is canceled, and with it the communicator; tasks
  /// behind it are not begun.
  void End();

 private:
  void Work();

  Communicator& ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // the first one is under way
  std::exception_ptr failure_;
  bool ends_ = false;
  double exchanged_before_ = 0;  // seconds of the communicator, at the first of these tasks
  bool is_idle_ = true;          // for the caller
  std::thread thread_;
};

}  // namespace lamina
