// Tasks in order.
#include "lamina/cluster/task_thread.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lamina/base/timing.h"
#include "lamina/platform/thread.h"

namespace lamina {

TaskThread::TaskThread(Communicator& ranks) : ranks_(ranks) {
  if (ranks.AnyThread()) {
    const platform::BlockedSignals blocked;
    thread_ = std::thread([this] { Work(); });
  }
}

void TaskThread::End() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    if (!tasks_.empty()) {
      ranks_.Cancel();
    }
  }
  changed_.notify_all();
  thread_.join();
}

void TaskThread::Do(std::function<void()> task) {
  if (!thread_.joinable()) {
    task();
    return;
  }
  if (std::exchange(is_idle_, false)) {
    exchanged_before_ = ranks_.exchange_seconds();
  }
  ranks_.SetAside(true);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void TaskThread::Finish() {
  if (std::exchange(is_idle_, true)) {
    return;
  }
  const Stopwatch watch;
  ranks_.SetAside(false);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
  ranks_.AddHidden(std::max(0.0, ranks_.exchange_seconds() - exchanged_before_ - watch.Elapsed_seconds()));
}

void TaskThread::Work() {
  platform::AskForShortSlices();  // it works for some microseconds at a time
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (ends_) {
      return;
    }
    const std::function<void()>& task = tasks_.front();  // stays where it is while others come
    if (failure_ == nullptr) {
      lock.unlock();
      std::exception_ptr failed;
      try {
        task();
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      failure_ = failed;
    }
    tasks_.pop_front();
    if (tasks_.empty()) {
      changed_.notify_all();
    }
  }
}

}  // namespace lamina
