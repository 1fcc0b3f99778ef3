// Tasks in order.
#include "lamina/cluster/task_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lamina/base/signal_mask.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

// Who sleeps most of the time and works for some microseconds must not wait for the slice of a thread that computes to
// end, which is 3 ms: a kernel from 6.12 on lets threads with shorter slices go first. Others do it without being
// asked.
void AskForShortSlices() {
  struct {  // sched_attr of the kernel, as far as it had it at first
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
  } attributes{};
  constexpr uint64_t kSlice_ns = 100'000;  // the shortest there is
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0) {
    attributes.runtime_ns = kSlice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
  }
}

}  // namespace

TaskThread::TaskThread(Communicator& ranks) : ranks_(ranks) {
  if (ranks.AnyThread()) {
    const BlockedSignals blocked;
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
  AskForShortSlices();
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
