// The formulas of metrics, over weighted rows.
#include "lamina/model/metric_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/base/nan.h"

namespace lamina {
namespace {

using Weights = std::span<const double>;
constexpr int kCalibrationBins = 15;
// Below it a probability counts as this much: 2^-52, as scikit-learn's log_loss does for numbers in double precision.
constexpr double kLeastProbability = 2.220446049250313e-16;

double Sum(Weights weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

// Weighted counts of rows: by class, by prediction, and where both are the same. Rows of unknown classes are in the
// predictions only.
struct ClassCounts {
  ClassCounts(const ScoredRows& rows, Weights weights)
      : of_class(static_cast<size_t>(rows.classes)), of_prediction(of_class), hits(of_class) {
    for (size_t i = 0; i < rows.labels.size(); ++i) {
      const int32_t label = rows.labels[i];
      const auto predicted = static_cast<size_t>(rows.predicted[i]);
      total += weights[i];
      of_prediction[predicted] += weights[i];
      if (label >= 0) {
        of_class[static_cast<size_t>(label)] += weights[i];
        hits[static_cast<size_t>(label)] += rows.predicted[i] == label ? weights[i] : 0;
      }
    }
  }
  // Mean of value(class) over the classes with rows.
  template <class Fn>
  double MeanOfPresent(const Fn& value) const {
    double sum = 0;
    int64_t present = 0;
    for (size_t c = 0; c < of_class.size(); ++c) {
      if (of_class[c] > 0) {
        sum += value(c);
        ++present;
      }
    }
    return present == 0 ? kNaN : sum / static_cast<double>(present);
  }
  std::vector<double> of_class;
  std::vector<double> of_prediction;
  std::vector<double> hits;
  double total = 0;
};

double Accuracy(const ScoredRows& rows, Weights weights, double) {
  const ClassCounts counts(rows, weights);
  return Sum(counts.hits) / counts.total;
}

double BalancedAccuracy(const ScoredRows& rows, Weights weights, double) {
  const ClassCounts counts(rows, weights);
  return counts.MeanOfPresent([&](size_t c) { return counts.hits[c] / counts.of_class[c]; });
}

double MacroF1(const ScoredRows& rows, Weights weights, double) {
  const ClassCounts counts(rows, weights);
  return counts.MeanOfPresent(
      [&](size_t c) { return 2 * counts.hits[c] / (counts.of_class[c] + counts.of_prediction[c]); });
}

// Gorodkin, 2004: the correlation of truth and prediction for any number of classes. 0 where all predictions are equal.
double Matthews(const ScoredRows& rows, Weights weights, double) {
  const ClassCounts counts(rows, weights);
  double product = 0;
  double classes = 0;
  double predictions = 0;
  for (size_t c = 0; c < counts.of_class.size(); ++c) {
    product += counts.of_class[c] * counts.of_prediction[c];
    classes += counts.of_class[c] * counts.of_class[c];
    predictions += counts.of_prediction[c] * counts.of_prediction[c];
  }
  const double squared = counts.total * counts.total;
  if (!(squared - classes > 0)) {
    return kNaN;
  }
  return squared - predictions > 0
             ? (Sum(counts.hits) * counts.total - product) / std::sqrt((squared - predictions) * (squared - classes))
             : 0;
}

// Mean over the classes, where they and others have rows, of the area of each against the others. With two classes it
// is that of the second. Area::Add(positive weight, negative weight) is called for every group of equal scores, the
// highest first.
template <class Area>
double MeanOfRankings(const ScoredRows& rows, Weights weights, double) {
  const auto& ranking = rows.Ranking();
  const int64_t first = rows.classes - std::ssize(ranking);
  double sum = 0;
  int64_t defined = 0;
  for (size_t k = 0; k < ranking.size(); ++k) {
    const int64_t c = first + static_cast<int64_t>(k);
    Area area;
    for (size_t i = 0; i < ranking[k].size();) {
      double positive = 0;
      double negative = 0;
      const double score = rows.Score(ranking[k][i], c);
      for (; i < ranking[k].size() && rows.Score(ranking[k][i], c) == score; ++i) {
        const auto row = static_cast<size_t>(ranking[k][i]);
        (rows.labels[row] == c ? positive : negative) += weights[row];
      }
      area.Add(positive, negative);
    }
    if (area.positives > 0 && area.negatives > 0) {
      sum += area.Value();
      ++defined;
    }
  }
  return defined == 0 ? kNaN : sum / static_cast<double>(defined);
}

// How often the positive row of a pair has a higher score than the negative; equal ones count half.
struct RocArea {
  void Add(double positive, double negative) {
    area += negative * (positives + positive / 2);
    positives += positive;
    negatives += negative;
  }
  double Value() const { return area / (positives * negatives); }
  double positives = 0;
  double negatives = 0;
  double area = 0;
};

// Sum of precision times growth of recall.
struct PrecisionArea {
  void Add(double positive, double negative) {
    positives += positive;
    negatives += negative;
    area += positive == 0 ? 0 : positive * positives / (positives + negatives);
  }
  double Value() const { return area / positives; }
  double positives = 0;
  double negatives = 0;
  double area = 0;
};

// Mean of fn(row).
template <class Fn>
double MeanOfRows(Weights weights, const Fn& fn) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] == 0 ? 0 : weights[i] * fn(i);
  }
  return sum / Sum(weights);
}

double LogLoss(const ScoredRows& rows, Weights weights, double) {
  return MeanOfRows(weights, [&](size_t i) {
    return -std::log(std::clamp(rows.Score(static_cast<int64_t>(i), rows.labels[i]), kLeastProbability, 1.0));
  });
}

// Brier, 1950; of two classes half of it, which is the squared error of the second one's probability.
double BrierScore(const ScoredRows& rows, Weights weights, double) {
  const double share = rows.classes == 2 ? 0.5 : 1;
  return share * MeanOfRows(weights, [&](size_t i) {
           double sum = 0;
           for (int64_t c = 0; c < rows.classes; ++c) {
             const double error = rows.Score(static_cast<int64_t>(i), c) - (rows.labels[i] == c ? 1 : 0);
             sum += error * error;
           }
           return sum;
         });
}

// Guo et al., 2017: rows in bins of equal width by the probability of the predicted class. The error is the mean
// distance between that and the share that is right.
double CalibrationError(const ScoredRows& rows, Weights weights, double) {
  double gaps[kCalibrationBins] = {};
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    const double sure = rows.Score(static_cast<int64_t>(i), rows.predicted[i]);
    const int bin = std::clamp(static_cast<int>(std::ceil(sure * kCalibrationBins)) - 1, 0, kCalibrationBins - 1);
    gaps[bin] += weights[i] * (sure - (rows.predicted[i] == rows.labels[i] ? 1 : 0));
  }
  double sum = 0;
  for (const double gap : gaps) {
    sum += std::abs(gap);
  }
  return sum / Sum(weights);
}

double MeanSquare(const ScoredRows& rows, Weights weights, double) {
  return MeanOfRows(weights, [&](size_t i) { return std::pow(rows.answers[i] - rows.truth[i], 2); });
}

double RootMeanSquare(const ScoredRows& rows, Weights weights, double) {
  return std::sqrt(MeanSquare(rows, weights, 0));
}

double MeanAbsolute(const ScoredRows& rows, Weights weights, double) {
  return MeanOfRows(weights, [&](size_t i) { return std::abs(rows.answers[i] - rows.truth[i]); });
}

double MeanAbsoluteShare(const ScoredRows& rows, Weights weights, double) {
  return MeanOfRows(weights, [&](size_t i) { return std::abs((rows.answers[i] - rows.truth[i]) / rows.truth[i]); });
}

double Determination(const ScoredRows& rows, Weights weights, double) {
  const double mean = MeanOfRows(weights, [&](size_t i) { return rows.truth[i]; });
  const double variance = MeanOfRows(weights, [&](size_t i) { return std::pow(rows.truth[i] - mean, 2); });
  return variance > 0 ? 1 - MeanSquare(rows, weights, 0) / variance : kNaN;
}

double Pinball(const ScoredRows& rows, Weights weights, double quantile) {
  return MeanOfRows(weights, [&](size_t i) {
    const double above = rows.truth[i] - rows.answers[i];
    return above > 0 ? quantile * above : (quantile - 1) * above;
  });
}

constexpr MetricRow kMetricRows[] = {
    {"accuracy", "accuracy", "share of right answers", true, true, true, {}, &Accuracy},
    {"balanced_accuracy",
     "balanced accuracy",
     "mean over the classes of the share found",
     true,
     true,
     true,
     {},
     &BalancedAccuracy},
    {"f1_macro", "macro F1", "mean of the classes' F1", true, true, true, {}, &MacroF1},
    {"mcc",
     "Matthews correlation",
     "correlation of truth and prediction",
     true,
     true,
     false,
     {.two_classes = true},
     &Matthews},
    {"auc",
     "AUC",
     "area under the ROC curve; mean over the classes, each against the others, of more than two",
     true,
     true,
     false,
     {.two_classes = true},
     &MeanOfRankings<RocArea>},
    {"average_precision",
     "average precision",
     "area under precision over recall, averaged alike",
     true,
     true,
     false,
     {.two_classes = true},
     &MeanOfRankings<PrecisionArea>},
    {"log_loss",
     "log loss",
     "mean of -ln of the true class's probability",
     true,
     false,
     false,
     {.known_labels = true, .probabilities = true},
     &LogLoss},
    {"brier",
     "Brier score",
     "squared error of the probabilities",
     true,
     false,
     false,
     {.probabilities = true},
     &BrierScore},
    {"calibration_error",
     "calibration error",
     "expected distance of probability and share of right answers",
     true,
     false,
     true,
     {.probabilities = true},
     &CalibrationError},
    {"rmse", "RMSE", "root of the mean squared error", false, false, false, {}, &RootMeanSquare},
    {"mse", "MSE", "mean squared error", false, false, false, {}, &MeanSquare},
    {"mae", "MAE", "mean absolute error", false, false, false, {}, &MeanAbsolute},
    {"mape",
     "MAPE",
     "mean absolute error as a share of the true value",
     false,
     false,
     true,
     {.no_zero_truth = true},
     &MeanAbsoluteShare},
    {"r2",
     "R²",
     "share of the variance that is explained",
     false,
     true,
     false,
     {.varying_truth = true},
     &Determination},
    {"pinball",
     "pinball loss",
     "loss of a quantile's estimate, pinball:0.9; without a number that of each answer's own quantile, else of the "
     "median",
     false,
     false,
     false,
     {},
     &Pinball,
     0.5}};

}  // namespace

std::span<const MetricRow> MetricTable() { return kMetricRows; }

}  // namespace lamina
