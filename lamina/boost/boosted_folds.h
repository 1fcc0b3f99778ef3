// As many boosted trees as rows left out tell.
#pragma once

#include <cstdint>

#include "lamina/boost/trees.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// Additions of a number to a sum that FitBoostedTrees() takes, about; without validation rows (`validates`) those of
/// TryBoostedTrees() and LearnAllRows(). An input of 0 counts as none: an input for each category is most often 0.
double BoostOperations(const Dataset& rows, bool validates, const BoostOptions& options);

/// Trees, and what they say to rows that they have not seen: the validation rows, or else folds of the training rows.
/// Up to 2,000 rows each of five folds is left out in turn, of more rows one of them. The trees are those of the last.
/// Rows of a group are in one fold; of rows with times the latest fifth is left out.
BoostedTrees TryBoostedTrees(const Dataset& train, const Dataset& validation, const BoostOptions& options);

/// As many trees of all of these rows as `tried` kept; what `tried` says of rows left out stays.
BoostedTrees LearnAllRows(const Dataset& rows, BoostOptions options, BoostedTrees tried);

}  // namespace lamina
