// Systems of kernel machines in the memory of the GPU: backend/device_kernels.h.
#pragma once

#include <memory>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/device_kernels.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

Verdict CudaKernelsAvailable(int64_t rows);
int64_t CudaKernelsBytes(const DeviceKernelsRequest& request);
std::unique_ptr<DeviceKernels> MakeCudaKernels(const DeviceKernelsRequest& request,
                                               const std::shared_ptr<Device>& device);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
