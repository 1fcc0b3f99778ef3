// Cross-validation: a training session a fold, what they measured, and every row's answer by a model that has not seen
// it. The model that is kept is trained on all rows afterwards, by what the folds found.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/metric.h"
#include "lamina/run/best_effort.h"
#include "lamina/run/out_of_fold.h"
#include "lamina/run/run_plan.h"
#include "lamina/run/session.h"

namespace lamina {

struct FoldResult {
  int64_t fold = 0;  // from 1
  int64_t train_rows = 0;
  int64_t validation_rows = 0;
  int64_t test_rows = 0;
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  double train_seconds = 0;
  int64_t batch = 0;
  double weight_decay = 0;
  double temperature = 1;            // that its answers were calibrated by
  std::vector<double> coverage;      // of --intervals, one a target
  std::vector<MetricValue> metrics;  // targets by metrics, without intervals
};

/// One metric of one target over the folds.
struct MetricSpread {
  MetricValue all;        // of all out-of-fold answers together, with its interval
  double mean = 0;        // of the folds that have a value; NaN: none has
  double deviation = 0;   // between them (n - 1); NaN for fewer than two
  int64_t undefined = 0;  // folds without a value
  std::string why;        // the first of them has none

  /// "97.89 % ± 0.61 %".
  std::string Text() const;
};

struct CrossValidation {
  std::vector<FoldResult> folds;
  std::vector<MetricSpread> metrics;
  OutOfFold out_of_fold;
  std::vector<ScoredRows> scored;    // the same answers, as metrics take them, one a target
  std::vector<int64_t> scored_rows;  // of the table: what the rows of those are
  Evaluation evaluation;             // of all those answers together; without a loss
  std::vector<std::string> remarks;  // classes that are rarer than folds
  bool interrupted = false;          // and nothing of use
  // With --effort best alone:
  bool stopped = false;  // before its end: the best of what had come to an end
  std::vector<PortfolioPart> portfolio;
  std::vector<MetricSpread> nested;  // with --nested: of folds that nothing was chosen by
  FoundByFolds found;
  TrainSettings final_settings;  // of the model on all rows
};

/// All optional.
struct CrossValidationCallbacks {
  std::function<void(int64_t fold, const TrainSession& session)> started;
  std::function<void(const FoldResult& fold)> done;
  // With --effort best, which has no such folds: PortfolioCallbacks.
  std::function<void(const Preprocessor& encoding)> planned;
  std::function<void(const PortfolioPart& part, int64_t number, int64_t count, double seconds_left)> part_done;
  TrainCallbacks train;  // of each fold
};

/// Trains settings.folds models on `raw`, or those of --effort best, and writes settings.out_of_fold. Throws Error.
CrossValidation CrossValidate(const TrainSettings& settings, const RawData& raw,
                              const CrossValidationCallbacks& callbacks, const std::vector<Activation>& custom = {});

nlohmann::json ToJson(const CrossValidation& result);

}  // namespace lamina
