// A layer planned on the GPU.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/device.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// `kernel`: "auto", or a name of kProductKernels for every pass. Throws Error(kInvalidArgument | kResource).
std::unique_ptr<PreparedLayer> MakeCudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device,
                                             const BackendOptions& options);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
