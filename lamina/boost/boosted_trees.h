// Gradient boosting of small trees (Friedman 2001): each tree takes a part of the loss that those before have left.
#pragma once

#include "lamina/boost/trees.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// Trees up to the round with the least loss of the validation rows, whose columns are those of `train`; without such
/// rows all of them. Features and targets are in memory; sample weights count. The same for any number of threads.
BoostedTrees FitBoostedTrees(const Dataset& train, const Dataset& validation, const BoostOptions& options);

}  // namespace lamina
