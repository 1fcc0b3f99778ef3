// The network's answers for the validation rows, and their metric.
#include "lamina/train/monitored.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/nan.h"

namespace lamina {

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
