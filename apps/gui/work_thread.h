// Calls from thread to thread: to the interface's, and to threads that work for it.
#pragma once

#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lamina::gui {

/// Makes the calls that are posted to it, one after the other, in the thread that it lives in, by Qt's event loop.
/// Those that are left when it goes are not made.
class CallQueue : public QObject {
  Q_OBJECT
 public:
  /// From any thread. What a thread did before is seen by the call.
  void Post(std::function<void()> call);

 private:
  Q_INVOKABLE void MakeNext();

  std::mutex mutex_;
  std::deque<std::function<void()>> calls_;
};

/// A thread that makes posted calls, which must not throw (use Attempt) nor touch widgets. It starts with the first
/// one, and is the last member of its class: what its calls use goes after it.
class WorkThread {
 public:
  /// `name`: for debuggers, 15 bytes at most.
  explicit WorkThread(const char* name) : name_(name) {}
  /// Waits for the call that is made; the rest is dropped.
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void Post(std::function<void()> call);

 private:
  void Run();

  const char* name_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> calls_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace lamina::gui
