// Training steps recorded into CUDA graphs.
#pragma once

#include <memory>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/training_steps.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

std::unique_ptr<RecordedSteps> MakeCudaSteps(const std::shared_ptr<Device>& device);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
