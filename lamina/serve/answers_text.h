// Answers as CSV and JSON, the columns that `lamina predict` writes.
#pragma once

#include <string>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/model/predictions.h"
#include "lamina/serve/job.h"

namespace lamina::serve {

/// Throws Error(kInvalidArgument) where intervals are asked of a model that has none.
void RequireColumns(const ServedModel& model, const PredictionColumns& columns);

/// {"model":, "answers": [{name: value, ...}, ...], "notes": [...]}; null in the place of a row without an answer.
std::string AnswersJson(const Job& job, const Matrix& outputs, const PredictionColumns& columns);

/// The name of the class, or the number, or the numbers of several targets by name; null without an answer.
void AppendPrediction(std::string& to, const ServedModel& model, const double* outputs);

}  // namespace lamina::serve
