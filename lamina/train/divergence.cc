// What is said of a training that diverged.
#include "lamina/train/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/error.h"

namespace lamina {

void ThrowDiverged(const char* which, double value, StepPlace place, const UpdateRule& rule) {
  throw Error(
      ErrorCode::kDiverged,
      fmt::format("training diverged: {} became {} in epoch {}, step {} of {}", which,
                  std::isnan(value) ? "NaN" : "infinite", place.epoch, place.step, place.steps),
      {.remedy = fmt::format(
           "Try a smaller learning rate ({:g} instead of {:g}), standardized inputs and targets, or less momentum.",
           std::min(rule.learning_rate / 10, DefaultLearningRate(rule.kind)), rule.learning_rate)});
}

std::optional<double> FirstNotFinite(const AlignedBuffer& numbers, DType dtype) {
  return DispatchFloat(dtype, [&]<class T>(T) -> std::optional<double> {
    for (const T value : numbers.As<T>()) {
      if (!std::isfinite(value)) {
        return static_cast<double>(value);
      }
    }
    return std::nullopt;
  });
}

}  // namespace lamina
