// Facts about update rules that follow from their formulas, for those who bring scales and penalties of their own.
#pragma once

#include "lamina/neuron/update_rule.h"

namespace lamina {

/// Whether weights decay apart from the gradient, as in adamw: a step with decay lambda is not that of g + lambda w.
bool DecaysApart(UpdateKind kind);

/// Whether steps grow with the gradient, as in sgd: twice the gradient is twice the step.
bool GrowsWithGradient(UpdateKind kind);

}  // namespace lamina
