// Training steps recorded into CUDA graphs.
#pragma once

#include <memory>

#include "lamina/backend/cuda/cuda_joint.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/training_steps.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Steps of runs beside each other are launched by `joint`.
std::unique_ptr<RecordedSteps> MakeCudaSteps(const std::shared_ptr<Device>& device,
                                             const std::shared_ptr<JointLaunch>& joint);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
