// What train says about --folds.
#pragma once

#include "lamina/run/cross_validation.h"

namespace lamina::cli {

/// Trains every fold; with `text` a line for each, and how far it is where a person looks.
CrossValidation CrossValidateWithProgress(const TrainSettings& settings, const RawData& raw, bool text);

/// The table of metrics, remarks and what was written.
void PrintCrossValidation(const TrainSettings& settings, const CrossValidation& result);

}  // namespace lamina::cli
