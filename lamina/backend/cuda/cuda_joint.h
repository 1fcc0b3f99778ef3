// Recorded work of several runs in one launch: small networks fill a GPU only together.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "lamina/backend/cuda/recordings.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Where runs meet that have a thread and a Device each.
class JointLaunch {
 public:
  /// The others wait for the run of `device` from now on until it leaves.
  void Enter(const Device& device);
  void Leave(const Device& device) noexcept;
  /// Recordings of `device` will be gone.
  void Forget(const Device& device) noexcept;
  /// Launches the work together with that of all others that entered, once each of them has asked.
  void Run(const Recorded& recorded) noexcept;

 private:
  void LaunchIfAllAsked() noexcept;

  struct Made {
    std::vector<Recorded> branches;
    std::unique_ptr<Device::Recording> together;
  };
  std::mutex mutex_;
  std::condition_variable launched_;
  std::vector<const Device*> entered_;  // one of a run for each Enter()
  std::vector<Recorded> asked_;
  std::vector<Made> made_;
  int64_t launches_ = 0;
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
