// Recorded work of several devices.
#pragma once

#include <memory>
#include <vector>

#include "lamina/backend/cuda/device.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

struct Recorded {
  Device* device = nullptr;
  Device::Recording* work = nullptr;
  bool operator==(const Recorded&) const = default;
};

/// Recordings of several devices, which are the same GPU, as one: a branch each. What was asked of a device before
/// comes before its branch, what is asked of it later after all of them. Throws Error where the GPU cannot.
std::unique_ptr<Device::Recording> Together(const std::vector<Recorded>& branches);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
