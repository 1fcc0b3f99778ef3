// How far a number might be off by the choice of rows: the percentiles of resamples (Efron, 1979).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lamina {

struct BootstrapOptions {
  int64_t resamples = 1000;  // 0: no interval
  double level = 0.95;
  uint64_t seed = 1;
};

struct Interval {
  double low = 0;  // both NaN where fewer than two resamples have a value
  double high = 0;
};

/// Sets weights[i] to how often row i is drawn in resample `index`: as many draws as rows, with replacement.
void DrawResample(uint64_t seed, int64_t index, std::span<double> weights);
/// The middle `level` of `values`, without those that are NaN; linear between neighbors.
Interval PercentileInterval(std::vector<double> values, double level);

}  // namespace lamina
