// What backend cuda reduces while it computes it: backend/device_reductions.h, f32 and f64.
#pragma once

#include <memory>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/device_reductions.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Null for other types, and where the lists of max_batch rows would have more than kMostListed entries.
std::unique_ptr<NearestLists> MakeNearestLists(const LayerPlanRequest& request, int64_t k,
                                               const std::shared_ptr<Device>& device);
/// Null for other types, synapses that are no distance, and activations that are no formula of the library.
std::unique_ptr<ActivationSums> MakeActivationSums(const LayerPlanRequest& request,
                                                   const std::shared_ptr<Device>& device);
/// As MakeActivationSums, and null where there are more outputs than storing the hidden layer costs.
std::unique_ptr<TwoLayers> MakeTwoLayers(const LayerPlanRequest& hidden, const LayerSpec& output,
                                         const std::shared_ptr<Device>& device);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
