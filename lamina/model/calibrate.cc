// Temperature scaling.
#include "lamina/model/calibrate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/least_at.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/metric.h"
#include "lamina/model/scored_rows.h"

namespace lamina {
namespace {

constexpr double kLargestTemperature = 20;
constexpr int kHalvings = 50;
constexpr int kSections = 16;

// What goes into the last activation: rows × outputs.
Matrix LogitsOf(const Model& model, const Backend& backend, const Matrix& features) {
  Model linear;
  linear.network = model.network.WithOutput(Activation());
  const Matrix outputs = NetworkOutputs(linear, backend, features);
  Matrix logits(outputs.rows(), outputs.cols(), DType::kF64);
  ConvertMatrix(outputs.view(), logits.view());
  return logits;
}

void DivideLogits(Network& network, double temperature) {
  const size_t last = network.layers().size() - 1;
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    const MatrixView weights = network.Weights(last);
    for (int64_t i = 0; i < weights.rows; ++i) {
      for (int64_t j = 0; j < weights.cols; ++j) {
        weights.Row<T>(i)[j] = static_cast<T>(static_cast<double>(weights.Row<T>(i)[j]) / temperature);
      }
      if (network.layers()[last].bias) {
        T& bias = static_cast<T*>(network.Bias(last))[i];
        bias = static_cast<T>(static_cast<double>(bias) / temperature);
      }
    }
  });
}

double ValueOf(const char* metric, const Model& model, const Backend& backend, const Dataset& rows) {
  return Metric::Parse(metric).Measure(ScoreDataset(model, NetworkOutputs(model, backend, rows.features), rows)[0]);
}

// Members and ensembles answer the mean of probabilities, whose loss has no slope in one logit: tried out, by golden
// section.
double TryTemperatures(const Model& model, const Backend& backend, const Dataset& rows) {
  const Metric log_loss = Metric::Parse("log_loss");
  std::vector<double> known;
  for (const int32_t label : rows.labels) {
    known.push_back(label < 0 ? 0 : 1);
  }
  const auto loss_at = [&](double log_temperature) {
    Model tried = model;
    ApplyTemperature(tried, std::exp(log_temperature));
    const ScoredRows scored = ScoreDataset(tried, NetworkOutputs(tried, backend, rows.features), rows)[0];
    return log_loss.Measure(scored, known);
  };
  const double log_largest = std::log(kLargestTemperature);
  return std::exp(LeastAt(-log_largest, log_largest, kSections, loss_at));
}

// Slope of the mean loss of softmax(beta z), times the rows: expected minus true logit. It grows with beta.
double SlopeAt(double beta, const Matrix& logits, std::span<const int32_t> labels, std::span<const double> weights) {
  double sum = 0;
  for (int64_t i = 0; i < logits.rows(); ++i) {
    const int32_t label = labels[static_cast<size_t>(i)];
    if (label < 0) {
      continue;
    }
    const double* z = logits.Row<double>(i);
    const double weight = weights.empty() ? 1 : weights[static_cast<size_t>(i)];
    if (logits.cols() == 1) {
      sum += weight * z[0] * (1 / (1 + std::exp(-beta * z[0])) - (label == 1 ? 1 : 0));
      continue;
    }
    const double largest = *std::max_element(z, z + logits.cols());
    double total = 0;
    double expected = 0;
    for (int64_t c = 0; c < logits.cols(); ++c) {
      const double share = std::exp(beta * (z[c] - largest));
      total += share;
      expected += share * z[c];
    }
    sum += weight * (expected / total - z[label]);
  }
  return sum;
}

}  // namespace

double FitTemperature(const Matrix& logits, std::span<const int32_t> labels, std::span<const double> weights) {
  double low = -std::log(kLargestTemperature);  // of ln beta
  double high = -low;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (SlopeAt(std::exp(middle), logits, labels, weights) > 0 ? high : low) = middle;
  }
  return std::exp(-(low + high) / 2);
}

Verdict CanCalibrate(const Model& model) {
  if (model.preprocessor.targets().task() != Task::kClassification) {
    return Verdict::No("the target is a number to predict");
  }
  const LayerSpec& last = model.network.layers().back();
  if (!AnswersProbabilities(model) || model.nearest > 0 || last.synapse != Synapse::kDot) {
    return Verdict::No("the outputs are no probabilities of a softmax or a sigmoid");
  }
  return {};
}

Calibration Calibrate(Model& model, const Backend& backend, const Dataset& rows) {
  if (const Verdict verdict = CanCalibrate(model); !verdict) {
    throw Error(ErrorCode::kUnsupported, "the model cannot be calibrated: " + verdict.reason);
  }
  if (rows.size() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a temperature is fitted to validation rows, and there are none");
  }
  Calibration calibration;
  calibration.rows = rows.size();
  calibration.log_loss_before = ValueOf("log_loss", model, backend, rows);
  calibration.error_before = ValueOf("calibration_error", model, backend, rows);
  calibration.temperature = model.network.members() > 1 || !model.others.empty()
                                ? TryTemperatures(model, backend, rows)
                                : FitTemperature(LogitsOf(model, backend, rows.features), rows.labels);
  ApplyTemperature(model, calibration.temperature);
  calibration.log_loss = ValueOf("log_loss", model, backend, rows);
  calibration.error = ValueOf("calibration_error", model, backend, rows);
  return calibration;
}

void ApplyTemperature(Model& model, double temperature) {
  for (int64_t i = 0; i < model.networks(); ++i) {
    DivideLogits(model.network_at(i), temperature);
  }
}

nlohmann::json ToJson(const Calibration& calibration) {
  const auto number = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); };
  return {{"temperature", calibration.temperature},
          {"rows", calibration.rows},
          {"log_loss_before", number(calibration.log_loss_before)},
          {"log_loss", number(calibration.log_loss)},
          {"calibration_error_before", number(calibration.error_before)},
          {"calibration_error", number(calibration.error)}};
}

}  // namespace lamina
