// Forward layers of backend cpu on halves and integers, and with Precision::kFast.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/pass_plan.h"

namespace lamina::cpu {

/// Whether MakeTypedLayer() is the one to prepare this request.
bool NeedsTypedLayer(const LayerPlanRequest& request);
std::unique_ptr<PreparedLayer> MakeTypedLayer(const LayerPlanRequest& request, const PassPlan& plan);

}  // namespace lamina::cpu
