// Resamples and percentiles.
#include "lamina/model/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/nan.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr uint64_t kResampleStream = 0xB0075;

}  // namespace

void DrawResample(uint64_t seed, int64_t index, std::span<double> weights) {
  std::fill(weights.begin(), weights.end(), 0.0);
  Random random(seed, kResampleStream + static_cast<uint64_t>(index));
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[random.Below(weights.size())] += 1;
  }
}

Interval PercentileInterval(std::vector<double> values, double level) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.size() < 2) {
    return {kNaN, kNaN};
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {  // linear between neighbors, as numpy.percentile
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at((1 - level) / 2), at((1 + level) / 2)};
}

}  // namespace lamina
