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
  double temperature = 1;            // of --calibrate
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

/// The answer to every row by the model that has not seen it. Rows that no fold tests have none.
struct OutOfFold {
  struct Row {
    int64_t row = 0;   // of the table
    int64_t fold = 0;  // 0: none
    std::string truth;
    std::string predicted;
    std::vector<double> numbers;  // classes: one output a class, NaN where its model does not know it; values: answers
  };
  std::vector<std::string> targets;
  std::vector<std::string> classes;  // of all folds' models; empty for values
  std::vector<Row> rows;             // ascending

  /// row,fold,TARGET,predicted,p_CLASS,... or row,fold,TARGET,...,predicted_TARGET,...
  std::string Csv() const;
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
  FoundByFolds found;
  TrainSettings final_settings;  // of the model on all rows
};

/// All optional.
struct CrossValidationCallbacks {
  std::function<void(int64_t fold, const TrainSession& session)> started;
  std::function<void(const FoldResult& fold)> done;
  TrainCallbacks train;  // of each fold
};

/// Trains settings.folds models on `raw` and writes settings.out_of_fold. Throws Error.
CrossValidation CrossValidate(const TrainSettings& settings, const RawData& raw,
                              const CrossValidationCallbacks& callbacks, const std::vector<Activation>& custom = {});

nlohmann::json ToJson(const CrossValidation& result);

}  // namespace lamina
