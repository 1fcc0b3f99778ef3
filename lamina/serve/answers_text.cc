// Answers by name.
#include "lamina/serve/answers_text.h"

#include <cmath>

#include "lamina/base/error.h"
#include "lamina/model/outputs.h"

namespace lamina::serve {
namespace {

const std::string& ClassName(const ServedModel& model, const double* outputs) {
  const TargetEncoder& targets = model.model().preprocessor.targets();
  const int32_t index = targets.ClassOf({outputs, static_cast<size_t>(model.model().network.outputs())});
  return targets.class_names()[static_cast<size_t>(index)];
}

// The values of one row, in the order of PredictionNames().
void AppendRow(std::string& to, const ServedModel& model, const std::vector<std::string>& names, const double* outputs,
               const PredictionColumns& columns) {
  size_t at = 0;
  const auto name = [&] {
    to += at == 0 ? "" : ",";
    AppendJsonString(to, names[at++]);
    to += ':';
  };
  if (model.classifies()) {
    name();
    AppendJsonString(to, ClassName(model, outputs));
    if (columns.probabilities) {
      for (const double value : ClassOutputs(model.model(), outputs)) {
        name();
        AppendJsonNumber(to, value, model.exact());
      }
    }
    return;
  }
  const int64_t count = model.model().network.outputs();
  for (int64_t j = 0; j < count; ++j) {
    name();
    AppendJsonNumber(to, outputs[j], model.exact());
  }
  for (int64_t j = 0; columns.intervals && j < count; ++j) {
    const double half_width = model.model().intervals->half_widths[static_cast<size_t>(j)];
    name();
    AppendJsonNumber(to, outputs[j] - half_width, model.exact());
    name();
    AppendJsonNumber(to, outputs[j] + half_width, model.exact());
  }
}

}  // namespace

void RequireColumns(const ServedModel& model, const PredictionColumns& columns) {
  if (columns.intervals && !model.model().intervals) {
    throw Error(ErrorCode::kInvalidArgument, "the model has no intervals",
                {.remedy = "Train it with --intervals 0.9, for example."});
  }
}

std::string AnswersJson(const Job& job, const Matrix& outputs, const PredictionColumns& columns) {
  const std::vector<std::string> names = PredictionNames(job.model->model(), columns);
  std::string text = "{\"model\":";
  AppendJsonString(text, job.model->name());
  text += ",\"answers\":[";
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    text += i == 0 ? "" : ",";
    if (std::isnan(row[0])) {
      text += "null";
      continue;
    }
    text += '{';
    AppendRow(text, *job.model, names, row, columns);
    text += '}';
  }
  text += "],\"notes\":[";
  bool first = true;
  for (const std::string& note : NotesOnRows(job.rows)) {
    text += first ? "" : ",";
    first = false;
    AppendJsonString(text, note);
  }
  return text + "]}";
}

void AppendPrediction(std::string& to, const ServedModel& model, const double* outputs) {
  if (std::isnan(outputs[0])) {
    to += "null";
  } else if (model.classifies()) {
    AppendJsonString(to, ClassName(model, outputs));
  } else if (model.model().network.outputs() == 1) {
    AppendJsonNumber(to, outputs[0], model.exact());
  } else {
    to += '{';
    AppendRow(to, model, PredictionNames(model.model(), {}), outputs, {});
    to += '}';
  }
}

}  // namespace lamina::serve
