// Which metric of the validation rows is looked at after each epoch.
#include "lamina/settings/monitor.h"

#include "lamina/base/setting.h"
#include "lamina/model/metric.h"

namespace lamina {

void SetMonitor(const ResolvedSettings& settings, const Model& model, const Dataset& validation,
                TrainOptions& options) {
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  const std::string& monitor = settings->monitor;
  const bool chosen_by_recipe = monitor != settings.given().monitor;
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

}  // namespace lamina
