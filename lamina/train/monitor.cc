// A metric of the validation rows after each epoch.
#include "lamina/train/monitor.h"

#include <cmath>

#include "lamina/base/nan.h"
#include "lamina/base/setting.h"
#include "lamina/model/metric.h"
#include "lamina/train/recipe.h"

namespace lamina {

void SetMonitor(const TrainSettings& settings, const Model& model, const Dataset& validation, TrainOptions& options) {
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  const std::string monitor = WithRecipe(settings, classes).monitor;
  const bool chosen_by_recipe = monitor != settings.monitor;
  if (monitor == kMonitorLoss || (chosen_by_recipe && validation.size() == 0)) {
    return;
  }
  if (validation.size() == 0) {
    RefuseSetting("monitor", "--monitor needs validation rows", monitor,
                  "Give a validation share, or leave --monitor out.");
  }
  const Metric metric =
      MetricsFor({&monitor, 1}, classes, model.preprocessor.targets().form().quantiles, "monitor").front();
  const Matrix none(validation.size(), model.network.outputs(), model.network.dtype());  // what is asked is the truth
  if (const std::string reason = WhyMeanUndefined(metric, ScoreDataset(model, none, validation)); !reason.empty()) {
    RefuseSetting("monitor", "--monitor is undefined for the validation rows: " + reason, monitor,
                  "Leave it out, or let more rows validate (--split, --stratify).");
  }
  options.monitor_higher = metric.row().higher_is_better;
  options.monitor = [metric, &model, &validation](const Matrix& outputs) {
    return MeanOverTargets(metric, ScoreDataset(model, outputs, validation));
  };
}

double Monitored(const TrainOptions& options, Executor& executor, const Dataset& validation) {
  if (!options.monitor) {
    return kNaN;
  }
  Matrix outputs(validation.size(), validation.targets.cols(), validation.features.dtype());
  constexpr int64_t kPiece = 1 << 14;  // rows at once, where they come from files
  const int64_t piece = validation.files.empty() ? validation.size() : kPiece;
  for (int64_t begin = 0; begin < validation.size(); begin += piece) {
    const int64_t count = std::min(piece, validation.size() - begin);
    executor.Predict(validation.features.view().Rows(begin, count), outputs.view().Rows(begin, count));
    validation.Release(begin, count);
  }
  return options.monitor(outputs);
}

double WatchedOf(const TrainOptions& options, const EpochRecord& record) {
  if (options.monitor) {
    return options.monitor_higher ? -record.monitored : record.monitored;
  }
  return std::isnan(record.validation_loss) ? record.train_loss : record.validation_loss;
}

}  // namespace lamina
