// Predictions and metrics of a model on encoded rows.
#include "lamina/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "lamina/backend/host_backend.h"
#include "lamina/base/error.h"
#include "lamina/base/timing.h"
#include "lamina/nn/executor.h"

namespace lamina {
namespace {

constexpr int64_t kBatch = 512;

// Mean loss over outputs in the network's own units.
double LossOf(const Model& model, const Matrix& outputs, const Matrix& targets) {
  LossArgs args;
  LossSums sums;
  args.loss = model.loss;
  args.activation = &model.network.layers().back().activation;
  args.a = outputs.view();
  args.targets = targets.view();
  args.sums = &sums;
  ComputeLossOnHost(args);
  return sums.loss / sums.weight;
}

Matrix RawOutputs(const Model& model, const Backend& backend, const Matrix& features) {
  Matrix outputs(features.rows(), model.network.outputs(), model.network.dtype());
  ExecutorOptions plan;
  plan.max_batch = std::clamp<int64_t>(features.rows(), 1, kBatch);
  plan.loss = model.loss;
  Executor executor(model.network, backend, plan);
  executor.Predict(features.view(), outputs.view());
  return outputs;
}

Matrix InTargetUnits(const Model& model, const Matrix& raw) {
  Matrix outputs(raw.rows(), raw.cols(), DType::kF64);
  DispatchFloat(raw.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < raw.rows(); ++i) {
      std::copy_n(raw.Row<T>(i), raw.cols(), outputs.Row<double>(i));
    }
  });
  if (model.preprocessor.task() == Task::kRegression) {
    model.preprocessor.UnscaleTargets(outputs.view());
  }
  return outputs;
}

std::vector<double> ColumnOf(const Matrix& matrix, int64_t column) {
  std::vector<double> values;
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    values.push_back(matrix.Row<double>(i)[column]);
  }
  return values;
}

}  // namespace

Matrix PredictRows(const Model& model, const Backend& backend, const Matrix& features) {
  return InTargetUnits(model, RawOutputs(model, backend, features));
}

std::vector<int32_t> ClassesOf(const Model& model, const Matrix& outputs) {
  std::vector<int32_t> classes;
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    classes.push_back(model.preprocessor.ClassOf({outputs.Row<double>(i), static_cast<size_t>(outputs.cols())}));
  }
  return classes;
}

void RequireCosts(const CostMatrix& costs, const Model& model) {
  if (model.preprocessor.task() != Task::kClassification) {
    throw Error(ErrorCode::kInvalidArgument, "--cost-matrix is of classes, and the target is a number to predict",
                {.remedy = "Leave it out."});
  }
  costs.InOrder(model.preprocessor.class_names());
}

Evaluation Evaluate(const Model& model, const Backend& backend, const Dataset& dataset, const CostMatrix& costs) {
  Evaluation evaluation;
  evaluation.samples = dataset.size();
  const Stopwatch watch;
  const Matrix raw = RawOutputs(model, backend, dataset.features);
  evaluation.seconds = watch.Elapsed_seconds();
  const Matrix outputs = InTargetUnits(model, raw);
  const bool unknown = std::find(dataset.labels.begin(), dataset.labels.end(), -1) != dataset.labels.end();
  evaluation.loss = unknown ? std::numeric_limits<double>::quiet_NaN() : LossOf(model, raw, dataset.targets);
  if (model.preprocessor.task() == Task::kClassification) {
    const bool stored = costs.empty() && model.training.is_object() && model.training.contains(kCostsKey);
    evaluation.classification =
        MeasureClassification(dataset.labels, ClassesOf(model, outputs), model.preprocessor.class_names(),
                              stored ? CostMatrix::FromJson(model.training[kCostsKey]) : costs);
    return evaluation;
  }
  const Matrix truth = InTargetUnits(model, dataset.targets);
  for (int64_t j = 0; j < outputs.cols(); ++j) {
    evaluation.regression.push_back(MeasureRegression(ColumnOf(truth, j), ColumnOf(outputs, j),
                                                      model.preprocessor.target_names()[static_cast<size_t>(j)]));
  }
  if (!dataset.baseline.empty()) {
    CompareWithBaseline(ColumnOf(truth, 0), dataset.baseline, model.preprocessor.baseline(), evaluation.regression[0]);
  }
  return evaluation;
}

nlohmann::json ToJson(const Evaluation& evaluation) {
  nlohmann::json node = evaluation.classification ? ToJson(*evaluation.classification) : nlohmann::json::object();
  if (!evaluation.classification) {
    nlohmann::json targets = nlohmann::json::array();
    for (const RegressionMetrics& metrics : evaluation.regression) {
      targets.push_back(ToJson(metrics));
    }
    node = evaluation.regression.size() == 1 ? targets[0] : nlohmann::json::object();
    node["targets"] = targets;
  }
  node["samples"] = evaluation.samples;
  node["loss"] = std::isfinite(evaluation.loss) ? nlohmann::json(evaluation.loss) : nlohmann::json(nullptr);
  node["seconds"] = evaluation.seconds;
  return node;
}

}  // namespace lamina
