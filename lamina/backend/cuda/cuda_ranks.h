// What sums over ranks need of the GPU: arithmetic on arrays, and exchanges by NCCL.
#pragma once

#include <memory>

#include "lamina/backend/array_math.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/device_exchange.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

std::unique_ptr<ArrayMath> MakeCudaArrayMath(const std::shared_ptr<Device>& device);

/// Collective. Null, with the same reason on all ranks, where one has no NCCL, versions differ, or two share a GPU.
/// Throws Error(kUnsupported) where NCCL cannot join them.
std::unique_ptr<DeviceExchange> JoinCudaRanks(const RankMeeting& meeting, const std::shared_ptr<Device>& device,
                                              Verdict* why);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
