// The arithmetic of stages.
#include "lamina/search/successive_halving.h"

#include <algorithm>
#include <cmath>

namespace lamina {

SuccessiveHalving::SuccessiveHalving(double factor, int64_t first_epochs, int64_t longest, int64_t trials)
    : factor_(factor), first_epochs_(first_epochs) {
  if (factor <= 1 || trials <= 1) {
    return;
  }
  const int64_t first = first_epochs > 0
                            ? first_epochs
                            : std::max<int64_t>(1, std::llround(static_cast<double>(longest) / std::pow(factor, 2)));
  double reach = static_cast<double>(first);
  // No more stages than halve the trials down to one.
  for (double left = static_cast<double>(trials); std::llround(reach) < longest && left > 1; left /= factor) {
    ++stages_;
    reach *= factor;
  }
}

int64_t SuccessiveHalving::EpochsAt(int64_t epochs, int stage) const {
  if (stage >= stages_) {
    return epochs;
  }
  const double reach = first_epochs_ > 0 ? static_cast<double>(first_epochs_) * std::pow(factor_, stage - 1)
                                         : static_cast<double>(epochs) / std::pow(factor_, stages_ - stage);
  return std::clamp<int64_t>(std::llround(reach), 1, epochs);
}

}  // namespace lamina
