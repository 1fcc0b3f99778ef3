// Small networks on the GPU: training steps without a launch each (network.cuh).
#pragma once

#include <memory>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/training_steps.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Whether MakeCudaNetwork() would take the network; its arrays need not be there.
Verdict CudaNetworkSuits(NetworkPlanRequest request, Device& device);
/// The network's steps as one launch for many of them; null where it does not suit, `why` then holds the reason.
std::unique_ptr<PreparedNetwork> MakeCudaNetwork(const NetworkPlanRequest& request,
                                                 const std::shared_ptr<Device>& device, Verdict* why);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
