// The last run that asks launches for all of them. A run waits only for those that have more to ask for.
#include "lamina/backend/cuda/cuda_joint.h"

#include <algorithm>

namespace lamina::LAMINA_CUDA_NAMESPACE {

void JointLaunch::Enter(const Device& device) {
  const std::lock_guard lock(mutex_);
  entered_.push_back(&device);
}

void JointLaunch::Leave(const Device& device) noexcept {
  Forget(device);
  const std::lock_guard lock(mutex_);
  entered_.erase(std::ranges::find(entered_, &device));
  LaunchIfAllAsked();
}

void JointLaunch::Forget(const Device& device) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(made_, [&](const Made& made) {
    return std::ranges::find(made.branches, &device, &Recorded::device) != made.branches.end();
  });
}

void JointLaunch::Run(const Recorded& recorded) noexcept {
  std::unique_lock lock(mutex_);
  asked_.push_back(recorded);
  const int64_t before = launches_;
  LaunchIfAllAsked();
  launched_.wait(lock, [&] { return launches_ > before; });
}

// Under the lock. A thread has one run, so what was asked for is of different ones.
void JointLaunch::LaunchIfAllAsked() noexcept {
  const auto has_asked = [&](const Device* device) {
    return std::ranges::find(asked_, device, &Recorded::device) != asked_.end();
  };
  if (asked_.empty() || !std::ranges::all_of(entered_, has_asked)) {
    return;
  }
  std::ranges::sort(asked_, {}, &Recorded::device);
  if (asked_.size() == 1) {
    asked_.front().work->Run();
  } else {
    auto made = std::ranges::find(made_, asked_, &Made::branches);
    try {
      if (made == made_.end()) {
        made = made_.insert(made_.end(), {asked_, Together(asked_)});
      }
      made->together->Run();
    } catch (const Error& error) {
      for (const Recorded& each : asked_) {
        each.device->KeepError(error.message());
      }
    }
  }
  asked_.clear();
  ++launches_;
  launched_.notify_all();
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
