// Distances of random pairs.
#include "lamina/rbf/mean_distance.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr int kPairs = 10'000;
constexpr uint64_t kDistanceStream = 900;  // of the seed; weights take the first streams, the order of rows 1000 on

template <class T>
double Distance(Synapse synapse, const T* a, const T* b, int64_t n) {
  return VisitSynapse(synapse, [&]<class S>(S) {
    double sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      sum = S::Term::Accumulate(static_cast<double>(a[k]), static_cast<double>(b[k]), sum);
    }
    return S::Finish(sum);
  });
}

}  // namespace

double MeanDistance(Synapse synapse, ConstMatrixView rows, uint64_t seed) {
  Random random(seed, kDistanceStream);
  const auto count = static_cast<uint64_t>(rows.rows);
  double sum = 0;
  DispatchFloat(rows.dtype, [&]<class T>(T) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const auto i = static_cast<int64_t>(random.Below(count));
      const auto j = static_cast<int64_t>(random.Below(count));
      sum += Distance(synapse, rows.Row<T>(i), rows.Row<T>(j), rows.cols);
    }
  });
  return sum / kPairs;
}

Activation WithRadiusFor(const Activation& activation, double mean_distance) {
  if (!(activation.radius() > 0) || !(mean_distance > 0) || !std::isfinite(mean_distance)) {
    return activation;
  }
  return Activation::Parse(
      fmt::format("{}(radius={:.4g})", activation.name(), mean_distance / formulas::Triangle::kWidth));
}

Activation WithRadiusOf(const LayerSpec& layer, ConstMatrixView rows, uint64_t seed) {
  return layer.activation.radius() > 0 ? WithRadiusFor(layer.activation, MeanDistance(layer.synapse, rows, seed))
                                       : layer.activation;
}

}  // namespace lamina
