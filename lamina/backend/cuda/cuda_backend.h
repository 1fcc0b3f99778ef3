// Backend "cuda": layers and training on the first visible NVIDIA GPU.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/device.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

std::unique_ptr<Backend> MakeCudaBackend(const BackendOptions& options);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
