// What a session measures beside its losses: metrics, calibrated probabilities, prediction intervals.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/setting.h"
#include "lamina/model/calibrate.h"
#include "lamina/model/intervals.h"
#include "lamina/model/metrics.h"
#include "lamina/run/session.h"
#include "lamina/run/tune_for_int8.h"

namespace lamina {

// Before any training, what would fail after it.
void TrainSession::RequireQuality() const {
  const TargetEncoder& targets = model_.preprocessor.targets();
  const bool classes = targets.task() == Task::kClassification;
  MetricsFor(settings_.metrics, classes, targets.form().quantiles);
  if (settings_.calibrate) {
    if (const Verdict verdict = CanCalibrate(model_); !verdict) {
      RefuseSetting("calibrate", "--calibrate: " + verdict.reason, "", "Leave it out.");
    }
    if (validation().size() == 0 && !(found_ && found_->temperature)) {
      RefuseSetting("calibrate", "--calibrate needs validation rows", "", "Give a validation share, or use --folds.");
    }
  }
  if (settings_.quantize_aware > 0) {
    RequireInt8Tuning(settings_, *data_, model_);
  }
  if (settings_.intervals) {
    if (classes) {
      RefuseSetting("intervals", "--intervals are for numbers, and the target is a class", "", "Leave it out.");
    }
    if (const int64_t least = LeastRowsFor(*settings_.intervals);
        validation().size() < least && !(found_ && found_->intervals)) {
      RefuseSetting("intervals",
                    fmt::format("--intervals {:g} needs {} validation rows, and there are {}", *settings_.intervals,
                                least, validation().size()),
                    "", "Let more rows validate (--split), use --folds, or ask for a smaller share.");
    }
  }
}

// Asked for, or because labels are smoothed, which makes probabilities too even: log loss falls by up to a third
// (0067).
bool TrainSession::Calibrates() const {
  return settings_.calibrate || (options_.step.label_smoothing > 0 && validation().size() > 0 && CanCalibrate(model_) &&
                                 LearnsByGradient(settings_));
}

void TrainSession::CalibrateBy(const Dataset& rows, TrainResult& result) {
  if (found_ && found_->temperature) {
    if (found_->networks.empty()) {  // those have their own already
      ApplyTemperature(model_, *found_->temperature);
    }
    model_.training["calibration"] = {{"temperature", *found_->temperature}};
  } else if (Calibrates()) {
    result.calibration = Calibrate(model_, *backend_, rows);
    model_.training["calibration"] = ToJson(*result.calibration);
  }
}

void TrainSession::FindIntervals(const Dataset& rows) {
  if (settings_.intervals) {
    model_.intervals =
        found_ && found_->intervals
            ? *found_->intervals
            : IntervalsOf(ScoreDataset(model_, NetworkOutputs(model_, *backend_, rows), rows), *settings_.intervals);
  }
}

void TrainSession::MeasureTest(TrainResult& result) {
  if (test().size() == 0) {
    return;
  }
  result.test = Evaluate(model_, *backend_, test());
  MeasureMore(result);
  model_.training["test"] = ToJson(*result.test);
}

// Metrics asked for by name, and how many test rows the intervals cover.
void TrainSession::MeasureMore(TrainResult& result) {
  if (settings_.metrics.empty() && !model_.intervals) {
    return;
  }
  const std::vector<ScoredRows> scored = ScoreDataset(model_, NetworkOutputs(model_, *backend_, test()), test());
  if (!settings_.metrics.empty()) {
    const TargetEncoder& targets = model_.preprocessor.targets();
    const bool classes = targets.task() == Task::kClassification;
    result.test->metrics = MeasureMetrics(MetricsFor(settings_.metrics, classes, targets.form().quantiles), scored,
                                          {.seed = settings_.seed});
  }
  if (model_.intervals) {
    result.coverage = CoverageOf(*model_.intervals, scored);
  }
}

}  // namespace lamina
