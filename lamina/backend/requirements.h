// What every backend requires of a layer before it prepares it.
#pragma once

#include "lamina/backend/backend.h"

namespace lamina {

/// Gradients are computed in f32 and f64 only.
Verdict CheckDType(const Problem& problem);
/// Yes, of who computes all but kBFloat16 and kFast as kExact: with a remark where that is slower than what was asked
/// for.
Verdict ExactInPlaceOf(Precision precision);

/// Throws Error(kUnsupported) unless backend.Supports() accepts every pass that `request` needs and the sums fit.
void RequireSupport(const Backend& backend, const LayerPlanRequest& request);

/// The largest |sum| that integer inputs of the magnitudes stated in `request` can have.
double LargestSum(const LayerPlanRequest& request);
/// Throws Error(kUnsupported), naming the magnitudes, where that does not fit the SumType() of an integer layer.
void RequireSumsFit(const LayerPlanRequest& request);

}  // namespace lamina
