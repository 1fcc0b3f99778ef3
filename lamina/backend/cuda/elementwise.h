// Elementwise of a GPU: backend/elementwise.h.
#pragma once

#include <memory>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/elementwise.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

std::unique_ptr<Elementwise> MakeCudaElementwise(const std::shared_ptr<Device>& device);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
