// Products that are reduced in the tile, f32 and f64.
#pragma once

#include <memory>

#include "lamina/backend/cpu/pass_plan.h"
#include "lamina/backend/reductions.h"

namespace lamina::cpu {

/// Null for types other than f32 and f64.
std::unique_ptr<NearSearch> MakeNearSearch(const LayerPlanRequest& request, const PassPlan& plan);
std::unique_ptr<GramSum> MakeGramSum(const GramRequest& request, int threads);

}  // namespace lamina::cpu
