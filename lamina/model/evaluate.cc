// Predictions and metrics of a model on encoded rows.
#include "lamina/model/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "lamina/backend/host_backend.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"
#include "lamina/layer/neighbours.h"
#include "lamina/model/int8_network.h"
#include "lamina/nn/conjunctions.h"
#include "lamina/nn/executor.h"

namespace lamina {
namespace {

constexpr int64_t kBatch = 512;

std::vector<double> ColumnOf(const Matrix& matrix, int64_t column) {
  std::vector<double> values;
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    values.push_back(matrix.Row<double>(i)[column]);
  }
  return values;
}

std::vector<std::pair<double, double>> PointsOf(const std::vector<double>& truth, const std::vector<double>& answers) {
  std::vector<std::pair<double, double>> points;
  const int64_t count = std::min<int64_t>(kMostPoints, std::ssize(truth));
  for (int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<size_t>(i * std::ssize(truth) / count);
    points.emplace_back(truth[row], answers[row]);
  }
  return points;
}

Matrix MeanOfNearest(const Model& model, const Backend& backend, const Matrix& features) {
  const Network& network = model.network;
  Matrix indices(features.rows(), model.nearest, DType::kI64);
  MatrixRows x(features.view());
  MatrixRows kept(network.Weights(0));
  NearestRows(x, kept, {network.layers()[0].synapse, model.nearest}, backend, {indices.view(), {}, {}});
  Matrix outputs(features.rows(), network.outputs(), network.dtype());
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < outputs.rows(); ++i) {
      const auto* const nearest = indices.Row<int64_t>(i);
      for (int64_t k = 0; k < outputs.cols(); ++k) {
        const T* const targets = network.Weights(1).Row<T>(k);
        double sum = 0;
        for (int64_t n = 0; n < model.nearest; ++n) {
          sum += static_cast<double>(targets[nearest[n]]);
        }
        outputs.Row<T>(i)[k] = static_cast<T>(sum / static_cast<double>(model.nearest));
      }
    }
  });
  return outputs;
}

void AnswerOnThreads(const Conjunctions& trees, int threads, ConstMatrixView x, MatrixView out) {
  constexpr int64_t kTogether = 64 * kBatch;  // rows of some tenths of a second
  const AlignedBuffer scratch(threads * trees.scratch_bytes());
  for (int64_t begin = 0; begin < x.rows; begin += kTogether) {
    StopPoint();
    const int64_t count = std::min(kTogether, x.rows - begin);
    RunTeam(threads, [&](Team team) {
      const int64_t first = begin + team.Begin(count);
      const int64_t rows = begin + team.End(count) - first;
      trees.Answer(x.Rows(first, rows).data, rows, out.Rows(first, rows).data,
                   static_cast<char*>(scratch.data()) + team.thread * trees.scratch_bytes());
    });
  }
}

// `files`: the rows that have those features, where they are in files; null: no matter.
Matrix OutputsOf(const Network& network, const Loss& loss, const Backend& backend, const Matrix& features,
                 const Dataset* files) {
  constexpr int64_t kPiece = 64 * kBatch;  // of rows in files
  Matrix outputs(features.rows(), network.outputs(), network.dtype());
  const auto trees = backend.AnswersTrees() ? Conjunctions::Of(network) : nullptr;
  std::optional<Executor> executor;
  if (trees == nullptr) {
    ExecutorOptions plan;
    plan.max_batch = std::clamp<int64_t>(features.rows(), 1, kBatch);
    plan.step.loss = loss;
    executor.emplace(network, backend, plan);
  }
  const int64_t piece = files == nullptr ? std::max<int64_t>(1, features.rows()) : kPiece;
  for (int64_t begin = 0; begin < features.rows(); begin += piece) {
    const int64_t count = std::min(piece, features.rows() - begin);
    const ConstMatrixView x = features.view().Rows(begin, count);
    const MatrixView out = outputs.view().Rows(begin, count);
    trees != nullptr ? AnswerOnThreads(*trees, backend.threads(), x, out) : executor->Predict(x, out);
    if (files != nullptr) {
      files->Release(begin, count);
    }
  }
  return outputs;
}

Matrix RowsAt(const Matrix& rows, const std::vector<int64_t>& places) {
  Matrix some(std::ssize(places), rows.cols(), rows.dtype());
  DispatchFloat(rows.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < some.rows(); ++i) {
      std::copy_n(rows.Row<T>(places[static_cast<size_t>(i)]), rows.cols(), some.Row<T>(i));
    }
  });
  return some;
}

// Each network answers the rows in which it has a share.
Matrix AnswersByGates(const Model& model, const Backend& backend, const Matrix& features, const Dataset* files) {
  const Matrix shares = SharesOfGates(OutputsOf(*model.gates, model.loss, backend, features, files));
  Matrix sums(features.rows(), model.network.outputs(), DType::kF64);
  for (int64_t k = 0; k < model.networks(); ++k) {
    std::vector<int64_t> asked;
    for (int64_t i = 0; i < features.rows(); ++i) {
      if (shares.Row<double>(i)[k] != 0) {
        asked.push_back(i);
      }
    }
    const Matrix answers = OutputsOf(model.network_at(k), model.loss, backend, RowsAt(features, asked), nullptr);
    DispatchFloat(answers.dtype(), [&]<class T>(T) {
      for (int64_t i = 0; i < answers.rows(); ++i) {
        const int64_t row = asked[static_cast<size_t>(i)];
        for (int64_t j = 0; j < sums.cols(); ++j) {
          sums.Row<double>(row)[j] += shares.Row<double>(row)[k] * static_cast<double>(answers.Row<T>(i)[j]);
        }
      }
    });
  }
  Matrix outputs(sums.rows(), sums.cols(), model.network.dtype());
  ConvertMatrix(sums.view(), outputs.view());
  return outputs;
}

Matrix AnswersOf(const Model& model, const Backend& backend, const Matrix& features, const Dataset* files) {
  if (model.nearest > 0) {
    return MeanOfNearest(model, backend, features);
  }
  if (model.int8) {
    return model.int8->Outputs(features);
  }
  if (model.gates) {
    return AnswersByGates(model, backend, features, files);
  }
  Matrix outputs = OutputsOf(model.network, model.loss, backend, features, files);
  if (!model.others.empty()) {
    std::vector<Matrix> all;
    all.push_back(std::move(outputs));
    for (const Network& other : model.others) {
      all.push_back(OutputsOf(other, model.loss, backend, features, files));
    }
    outputs = SumOfShares(all, model.shares);
  }
  return outputs;
}

}  // namespace

Matrix NetworkOutputs(const Model& model, const Backend& backend, const Matrix& features) {
  return AnswersOf(model, backend, features, nullptr);
}

Matrix NetworkOutputs(const Model& model, const Backend& backend, const Dataset& rows) {
  return AnswersOf(model, backend, rows.features, rows.files.empty() ? nullptr : &rows);
}

Matrix PredictRows(const Model& model, const Backend& backend, const Matrix& features) {
  Matrix outputs = InTargetUnits(model, NetworkOutputs(model, backend, features));
  if (const int64_t row = FirstNotFinite(outputs); row >= 0) {
    throw Error(ErrorCode::kBadModel,
                fmt::format("the network's answer to row {} (counted from 0) is not a finite number", row),
                {.remedy = kNotFiniteRemedy});
  }
  return outputs;
}

void RequireCosts(const CostMatrix& costs, const Model& model) {
  if (model.preprocessor.targets().task() != Task::kClassification) {
    throw Error(ErrorCode::kInvalidArgument, "--cost-matrix is for classes, and the target is a number to predict",
                {.remedy = "Leave it out."});
  }
  costs.InOrder(model.preprocessor.targets().class_names());
}

Evaluation Evaluate(const Model& model, const Backend& backend, const Dataset& dataset, const CostMatrix& costs) {
  const Stopwatch watch;
  const Matrix outputs = NetworkOutputs(model, backend, dataset);
  const double seconds = watch.Elapsed_seconds();
  Evaluation evaluation = EvaluateOutputs(model, outputs, dataset, costs);
  evaluation.seconds = seconds;
  return evaluation;
}

double LossOfOutputs(const Model& model, const Matrix& outputs, const Matrix& targets) {
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

Evaluation EvaluateScored(std::span<const ScoredRows> targets, std::span<const std::string> class_names,
                          const CostMatrix& costs) {
  Evaluation evaluation;
  evaluation.loss = kNaN;
  for (const ScoredRows& target : targets) {
    evaluation.samples = target.size();
    if (target.classes > 0) {
      evaluation.classification = MeasureClassification(target.labels, target.predicted, class_names, costs);
      break;
    }
    evaluation.regression.push_back(MeasureRegression(target.truth, target.answers, target.target));
    if (target.level > 0) {
      MeasureQuantile(target.truth, target.answers, target.level, evaluation.regression.back());
    }
    evaluation.points.push_back(PointsOf(target.truth, target.answers));
  }
  return evaluation;
}

Evaluation EvaluateOutputs(const Model& model, const Matrix& raw, const Dataset& dataset, const CostMatrix& costs) {
  Evaluation evaluation;
  evaluation.samples = raw.rows();
  const Matrix outputs = InTargetUnits(model, raw);
  const bool unknown = std::find(dataset.labels.begin(), dataset.labels.end(), -1) != dataset.labels.end();
  evaluation.loss = unknown ? kNaN : LossOfOutputs(model, raw, dataset.targets);
  if (model.preprocessor.targets().task() == Task::kClassification) {
    const bool stored = costs.empty() && model.training.is_object() && model.training.contains(kCostsKey);
    evaluation.classification =
        MeasureClassification(dataset.labels, ClassesOf(model, outputs), model.preprocessor.targets().class_names(),
                              stored ? CostMatrix::FromJson(model.training[kCostsKey]) : costs);
    return evaluation;
  }
  const Matrix truth = InTargetUnits(model, dataset.targets);
  for (int64_t j = 0; j < outputs.cols(); ++j) {
    const std::vector<double> right = ColumnOf(truth, j);
    const std::vector<double> answers = ColumnOf(outputs, j);
    evaluation.regression.push_back(
        MeasureRegression(right, answers, model.preprocessor.targets().answer_names()[static_cast<size_t>(j)]));
    if (const double level = model.preprocessor.targets().LevelOf(j); level > 0) {
      MeasureQuantile(right, answers, level, evaluation.regression.back());
    }
    evaluation.points.push_back(PointsOf(right, answers));
  }
  if (!dataset.baseline.empty()) {
    CompareWithBaseline(ColumnOf(truth, 0), dataset.baseline, model.preprocessor.targets().baseline().name,
                        evaluation.regression[0]);
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
  for (const MetricValue& value : evaluation.metrics) {
    node["metrics"].push_back(ToJson(value));
  }
  node["samples"] = evaluation.samples;
  node["loss"] = std::isfinite(evaluation.loss) ? nlohmann::json(evaluation.loss) : nlohmann::json(nullptr);
  return node;
}

}  // namespace lamina
