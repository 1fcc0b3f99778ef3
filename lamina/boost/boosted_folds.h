// As many boosted trees as rows left out tell, where there are no validation rows.
#pragma once

#include <cstdint>

#include "lamina/boost/trees.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// Additions of a number to a sum that FitBoostedTrees() takes, about; without validation rows (`validates`)
/// FitBoostedTreesByFolds(). An input of 0 counts as none: an input for each category is most often 0.
double BoostOperations(const Dataset& rows, bool validates, const BoostOptions& options);

/// Trees of all rows, as many as are best for rows left out. Up to 2,000 rows each of five folds is left out in turn,
/// of more rows one of them. Rows of a group are in one fold; of rows with times the latest fifth is left out.
BoostedTrees FitBoostedTreesByFolds(const Dataset& rows, const BoostOptions& options);

}  // namespace lamina
