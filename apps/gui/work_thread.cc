// Qt only says that there is a call. The call itself waits in a queue of our own, whose lock ThreadSanitizer sees; it
// does not see those of Qt.
#include "work_thread.h"

#include <utility>

#include "lamina/platform/thread.h"

namespace lamina::gui {

void CallQueue::Post(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  QMetaObject::invokeMethod(this, "MakeNext", Qt::QueuedConnection);
}

void CallQueue::MakeNext() {
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    call = std::move(calls_.front());
    calls_.pop_front();
  }
  call();
}

WorkThread::~WorkThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  posted_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void WorkThread::Post(std::function<void()> call) {
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { Run(); });
  }
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  posted_.notify_one();
}

void WorkThread::Run() {
  platform::NameThisThread(name_);
  std::unique_lock lock(mutex_);
  while (true) {
    posted_.wait(lock, [this] { return ends_ || !calls_.empty(); });
    if (ends_) {
      return;
    }
    std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    call = nullptr;  // what it holds goes before others wait
    lock.lock();
  }
}

}  // namespace lamina::gui
