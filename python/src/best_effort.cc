// The portfolio, which keeps what it has when it is stopped.
#include "python/src/best_effort.h"

#include "lamina/run/cross_validation.h"
#include "lamina/settings/validation.h"

namespace lamina::python {

BestRun TrainBest(const TrainSettings& settings, const std::function<RawData()>& read, Interrupts& interrupts) {
  BestRun best;
  {
    const nb::gil_scoped_release unlocked;
    ValidateSettings(settings);
    const RawData raw = read();
    CrossValidationCallbacks callbacks;
    callbacks.train.stop_requested = [&] { return interrupts.Stop(); };
    const CrossValidation result = CrossValidate(settings, raw, callbacks);
    if (!result.interrupted) {
      best.session = std::make_unique<TrainSession>(result.final_settings, raw, result.found);
      best.cross_validation = ToJson(result);
      best.stopped = result.stopped;
    }
  }
  if (best.session == nullptr) {
    interrupts.Rethrow();
  }
  return best;
}

}  // namespace lamina::python
