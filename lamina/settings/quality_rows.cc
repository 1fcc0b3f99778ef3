// Folds, metrics, and what is kept beside a model so that its answers can be judged.
#include "lamina/settings/quality_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lamina/model/metric.h"

namespace lamina {
namespace {

constexpr NumberRange kShareInside{.low = 0, .high = 1, .above_low = true, .below_high = true};

bool HasFolds(const TrainSettings& settings) { return settings.folds > 0; }

std::vector<std::string> MonitorNames() {
  std::vector<std::string> names = MetricNames();
  names.insert(names.begin(), {std::string(kAutoText), kMonitorLoss});
  return names;
}

}  // namespace

std::vector<Setting<TrainSettings>> QualityRows() {
  using S = TrainSettings;
  using Row = Setting<S>;
  constexpr InTrials kSame = InTrials::kSame;
  return {
      Row("folds", &S::folds,
          "Cross-validation: this many models, each tested on rows that it has not seen, every row once, classes "
          "spread evenly. With --split-by, rows of the same text stay together, and models of earlier rows test "
          "numbers and dates. --model then trains on all rows; 0: none",
          {.range = kFoldCounts,
           .trials = kSame,
           .of_columns = true,
           .basic = "Cross-validation: 5 tests every row once"}),
      Row("fold", &S::fold, "--folds: train only this one, from 1, and test its rows; 0: all",
          {.range = kNotNegative, .effect = &HasFolds, .trials = kSame, .of_columns = true}),
      Row("bag", &S::bag,
          "--folds: --model keeps the networks of the folds, and answers with their mean, instead of one trained on "
          "all rows. All see columns as encoded by all rows",
          {.effect = &HasFolds, .trials = kSame}),
      Row("group", &S::group,
          "Rows with the same value in this column, which is no input, stay together: in folds, in the split, and "
          "where --method rfm leaves rows out",
          {.trials = kSame, .of_columns = true}),
      Row("out-of-fold", &S::out_of_fold,
          "--folds: write to this file, as CSV, for every row the answer of the model that has not seen it",
          {.effect = &HasFolds, .trials = InTrials::kOutside, .writes = true}),
      Row("metrics", &S::metrics,
          fmt::format("Metrics of the test rows and folds: all, or some of {}. pinball:0.9 is for the quantile 0.9; "
                      "in models of quantiles, pinball takes each answer's own",
                      fmt::join(MetricNames(), ", ")),
          {.trials = kSame, .after_checkpoint = true, .of_columns = true}),
      Row("monitor", &S::monitor,
          "What decides the best epoch, for --keep, --patience and the schedule plateau: loss, or a metric of the "
          "validation rows; auto: by the recipe (plain: loss)",
          {.choices = &MonitorNames, .more_choices = true, .trials = kSame}),
      Row("calibrate", &S::calibrate,
          "Classes: divide the last layer by a temperature fitted to the validation rows, so that probabilities say "
          "how often they are right; --label-smoothing above 0 does so, too",
          {.effect = [](const S& s) { return s.task != "regression"; }, .trials = kSame, .after_checkpoint = true}),
      Row("intervals", &S::intervals,
          "Regression: keep the distance within which this share of the true values lies (of the validation rows, of "
          "all with --folds), for predict --intervals; for example 0.9",
          {.range = kShareInside,
           .effect = [](const S& s) { return s.task != "classification"; },
           .trials = kSame,
           .after_checkpoint = true})};
}

}  // namespace lamina
