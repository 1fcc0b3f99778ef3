// Dot layers on AMX tiles. Operands are bf16, i8 and u8 as stored; f32 is two (Precision::kFast) or three (kBFloat16x3)
// bf16 each, f16 two in either case.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/pass_plan.h"

namespace lamina::cpu {

/// Whether MakeAmxLayer() computes the request with these instruction sets; the reason why not.
Verdict AmxServes(const LayerPlanRequest& request, const InstructionSets& sets);
/// Calls of few samples, and passes whose plans name another kernel, are computed as without tiles. The threads that
/// call it must be allowed tiles (instruction_sets.h).
std::unique_ptr<PreparedLayer> MakeAmxLayer(const LayerPlanRequest& request, const PassPlans& plans);

}  // namespace lamina::cpu
