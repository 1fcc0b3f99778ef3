// Temperatures, means of repeats, losses, selection.
#include "lamina/run/left_out_answers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/least_at.h"
#include "lamina/model/calibrate.h"
#include "lamina/model/outputs.h"

namespace lamina {
namespace {

constexpr double kLeastProbability = 1e-15;
constexpr int64_t kRowsARound = 20;  // few rows are soon answered well by luck
constexpr int64_t kLeastRounds = 5;
constexpr int64_t kMostRounds = 25;
constexpr double kMostUsualErrors = 6;         // larger ones count by their size alone
constexpr double kDeviationOfMedian = 1.4826;  // a standard deviation to the median size, of normal errors

constexpr double kUsualLogSureness = 0.1;  // before any row is asked
constexpr double kTrustInUsual = 100;      // rows times mean loss, for the square of what is not usual
constexpr double kMostLogSureness = 0.7;
constexpr int kSections = 12;

Matrix OfZeros(int64_t rows, int64_t cols) {
  Matrix zeros(rows, cols, DType::kF64);
  std::memset(zeros.data(), 0, static_cast<size_t>(rows * cols) * sizeof(double));
  return zeros;
}

// What goes into the last activation, up to a number that a row's outputs share: of probabilities their logarithms.
Matrix LogitsOfAnswers(const Matrix& answers, bool probabilities) {
  Matrix logits(answers.rows(), answers.cols(), DType::kF64);
  ConvertMatrix(answers.view(), logits.view());
  for (int64_t i = 0; i < logits.rows() && probabilities; ++i) {
    double* const row = logits.Row<double>(i);
    std::transform(row, row + logits.cols(), row,
                   [](double p) { return p < kLeastProbability ? std::log(kLeastProbability) : std::log(p); });
  }
  return logits;
}

}  // namespace

LeftOutRows::LeftOutRows(std::span<const Dataset> tests, int64_t table_rows, bool classes) : classes_(classes) {
  place_of_.assign(static_cast<size_t>(table_rows), -1);
  for (const Dataset& test : tests) {
    for (const int64_t row : test.rows) {
      place_of_[static_cast<size_t>(row)] = 0;
    }
  }
  int64_t count = 0;
  for (int64_t& place : place_of_) {
    place = place < 0 ? -1 : count++;
  }
  targets_ = OfZeros(count, tests.front().targets.cols());
  labels_.assign(static_cast<size_t>(count), -1);
  for (const Dataset& test : tests) {
    Matrix numbers(test.targets.rows(), test.targets.cols(), DType::kF64);
    ConvertMatrix(test.targets.view(), numbers.view());
    for (size_t i = 0; i < test.rows.size(); ++i) {
      const int64_t place = PlaceOf(test.rows[i]);
      std::copy_n(numbers.Row<double>(static_cast<int64_t>(i)), numbers.cols(), targets_.Row<double>(place));
      if (classes) {
        labels_[static_cast<size_t>(place)] = test.labels[i];
      }
    }
  }
}

// One for all folds' networks, fitted to the answers of them all.
double LeftOutRows::TemperatureOf(std::span<const TrainedFold> folds, std::span<const Matrix> logits) const {
  int64_t count = 0;
  for (const Matrix& fold : logits) {
    count += fold.rows();
  }
  Matrix all(count, logits.front().cols(), DType::kF64);
  std::vector<int32_t> labels;
  for (size_t f = 0; f < logits.size(); ++f) {
    for (int64_t i = 0; i < logits[f].rows(); ++i) {
      std::copy_n(logits[f].Row<double>(i), all.cols(), all.Row<double>(std::ssize(labels)));
      labels.push_back(labels_[static_cast<size_t>(PlaceOf(folds[f].rows[static_cast<size_t>(i)]))]);
    }
  }
  return FitTemperature(all, labels);
}

std::vector<Matrix> LeftOutRows::LogitsOf(std::span<const TrainedFold> folds) const {
  const bool softmax = folds.front().network.layers().back().activation.is_softmax();
  std::vector<Matrix> logits;
  std::ranges::transform(folds, std::back_inserter(logits),
                         [&](const TrainedFold& fold) { return LogitsOfAnswers(fold.outputs, classes_ && softmax); });
  return logits;
}

Matrix LeftOutRows::MeansOf(std::span<const TrainedFold> folds, std::span<const Matrix> logits,
                            double temperature) const {
  int64_t answered = 0;
  for (const Matrix& fold : logits) {
    answered += fold.rows();
  }
  Matrix means = OfZeros(targets_.rows(), targets_.cols());
  const double weight = static_cast<double>(targets_.rows()) / static_cast<double>(answered);
  for (size_t f = 0; f < logits.size(); ++f) {
    for (int64_t i = 0; i < logits[f].rows(); ++i) {
      const std::span sums(means.Row<double>(PlaceOf(folds[f].rows[static_cast<size_t>(i)])),
                           static_cast<size_t>(targets_.cols()));
      const double* const numbers = logits[f].Row<double>(i);
      if (classes_) {
        AddSoftmax(numbers, temperature, weight, sums);
      } else {
        std::transform(sums.begin(), sums.end(), numbers, sums.begin(),
                       [&](double sum, double number) { return sum + weight * number; });
      }
    }
  }
  return means;
}

Matrix LeftOutRows::ChosenOf(const Matrix& answers) const {
  Matrix chosen(targets_.rows(), classes_ ? 1 : targets_.cols(), DType::kF64);
  for (int64_t i = 0; i < targets_.rows(); ++i) {
    const double* const row = answers.Row<double>(i);
    if (classes_) {
      const int32_t label = labels_[static_cast<size_t>(i)];
      chosen.Row<double>(i)[0] = label < 0 ? 1 : row[label];
    } else {
      std::copy_n(row, targets_.cols(), chosen.Row<double>(i));
    }
  }
  return chosen;
}

LeftOutModel LeftOutRows::Together(std::span<const TrainedFold> folds) const {
  LeftOutModel model;
  const std::vector<Matrix> logits = LogitsOf(folds);
  if (std::ranges::any_of(logits, [](const Matrix& fold) { return FirstNotFinite(fold) >= 0; })) {
    return model;
  }
  model.temperature = classes_ ? TemperatureOf(folds, logits) : 1;
  model.answers = MeansOf(folds, logits, model.temperature);
  model.chosen = ChosenOf(model.answers);
  model.loss = LossOf(model.chosen);
  return model;
}

Matrix LeftOutRows::AnswersOf(std::span<const MixedModel> mix) const {
  std::vector<Matrix> answers;
  std::vector<double> shares;
  for (const MixedModel& model : mix) {
    answers.push_back(MeansOf(model.folds, LogitsOf(model.folds), model.temperature));
    shares.push_back(model.share);
  }
  return SumOfShares(answers, shares);
}

double LeftOutRows::SurenessOf(std::span<const MixedModel> mix) const {
  std::vector<std::vector<Matrix>> logits;
  std::vector<double> shares;
  for (const MixedModel& model : mix) {
    logits.push_back(LogitsOf(model.folds));
    shares.push_back(model.share);
  }
  const double log_sureness = LeastAt(-kMostLogSureness, kMostLogSureness, kSections, [&](double x) {
    std::vector<Matrix> answers;
    for (size_t k = 0; k < mix.size(); ++k) {
      answers.push_back(MeansOf(mix[k].folds, logits[k], mix[k].temperature / std::exp(x)));
    }
    return static_cast<double>(size()) * LossOf(ChosenOf(SumOfShares(answers, shares))) +
           kTrustInUsual * std::pow(x - kUsualLogSureness, 2);
  });
  return std::exp(log_sureness);
}

// A robust deviation of the best model's errors, times kMostUsualErrors; classes have none.
double LeftOutRows::LimitFor(std::span<const Matrix> chosen) const {
  if (classes_) {
    return INFINITY;
  }
  const Matrix& best = *std::ranges::min_element(chosen, {}, [this](const Matrix& answers) { return LossOf(answers); });
  std::vector<double> sizes;
  for (int64_t i = 0; i < best.rows(); ++i) {
    std::transform(best.Row<double>(i), best.Row<double>(i) + best.cols(), targets_.Row<double>(i),
                   std::back_inserter(sizes), [](double answer, double target) { return std::abs(answer - target); });
  }
  const auto middle = sizes.begin() + std::ssize(sizes) / 2;
  std::ranges::nth_element(sizes, middle);
  return *middle > 0 ? kMostUsualErrors * kDeviationOfMedian * *middle : INFINITY;
}

double LeftOutRows::LossOf(const Matrix& chosen, double limit) const {
  double sum = 0;
  for (int64_t i = 0; i < chosen.rows(); ++i) {
    const double* const row = chosen.Row<double>(i);
    for (int64_t c = 0; c < chosen.cols(); ++c) {
      const double error = classes_ ? 0 : std::abs(row[c] - targets_.Row<double>(i)[c]);
      sum += classes_         ? -std::log(std::max(row[c], kLeastProbability))
             : error <= limit ? error * error
                              : limit * (2 * error - limit);
    }
  }
  return sum / static_cast<double>(chosen.rows() * chosen.cols());
}

EnsembleChoice LeftOutRows::Choose(std::span<const Matrix> chosen) const {
  const int64_t rounds = std::clamp(size() / kRowsARound, kLeastRounds, kMostRounds);
  const double limit = LimitFor(chosen);
  EnsembleChoice choice = ChooseEnsemble(
      chosen, std::ssize(chosen), [&](const Matrix& mean) { return LossOf(mean, limit); }, static_cast<int>(rounds));
  const auto total = static_cast<double>(std::accumulate(choice.counts.begin(), choice.counts.end(), int64_t{0}));
  std::vector<double> shares;
  std::ranges::transform(choice.counts, std::back_inserter(shares),
                         [&](int64_t count) { return static_cast<double>(count) / total; });
  choice.loss = LossOf(SumOfShares(chosen, shares));
  return choice;
}

Matrix LeftOutRows::RestOf(const Matrix& answers) const {
  Matrix rest(targets_.rows(), targets_.cols(), DType::kF64);
  for (int64_t i = 0; i < rest.rows(); ++i) {
    const double* const row = targets_.Row<double>(i);
    std::transform(row, row + rest.cols(), answers.Row<double>(i), rest.Row<double>(i), std::minus());
  }
  return rest;
}

Matrix LeftOutRows::AnswersTo(const Dataset& test, const Matrix& answers, DType dtype) const {
  Matrix wanted(std::ssize(test.rows), answers.cols(), DType::kF64);
  for (int64_t i = 0; i < wanted.rows(); ++i) {
    std::copy_n(answers.Row<double>(PlaceOf(test.rows[static_cast<size_t>(i)])), answers.cols(), wanted.Row<double>(i));
  }
  Matrix converted(wanted.rows(), wanted.cols(), dtype);
  ConvertMatrix(wanted.view(), converted.view());
  return converted;
}

Dataset TruthOf(const Dataset& test) {
  Dataset truth;
  truth.targets = Matrix(test.targets.rows(), test.targets.cols(), test.targets.dtype());
  ConvertMatrix(test.targets.view(), truth.targets.view());
  truth.labels = test.labels;
  truth.rows = test.rows;
  truth.baseline = test.baseline;
  return truth;
}

Network WithSoftmax(const Network& network, double temperature) {
  Model model;
  model.network = network.WithOutput(Activation("softmax"));
  ApplyTemperature(model, temperature);
  return std::move(model.network);
}

}  // namespace lamina
