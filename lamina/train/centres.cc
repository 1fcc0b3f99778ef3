// Centres and radius of a first layer of distance neurons.
#include "lamina/train/centres.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr int kPairs = 10'000;
constexpr uint64_t kDistanceStream = 900;  // of the seed; weights take the first streams, the order of rows 1000 on
constexpr uint64_t kCentreStream = 901;

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

double MeanDistance(Synapse synapse, const Dataset& train, uint64_t seed) {
  Random random(seed, kDistanceStream);
  const auto rows = static_cast<uint64_t>(train.size());
  double sum = 0;
  DispatchFloat(train.features.dtype(), [&]<class T>(T) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const auto i = static_cast<int64_t>(random.Below(rows));
      const auto j = static_cast<int64_t>(random.Below(rows));
      sum += Distance(synapse, train.features.Row<T>(i), train.features.Row<T>(j), train.features.cols());
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

void PlaceCentres(Network& network, const Dataset& train, uint64_t seed) {
  const LayerSpec& layer = network.layers().front();
  std::vector<int64_t> order(static_cast<size_t>(train.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random(seed, kCentreStream).Shuffle(std::span(order));
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    for (int64_t j = 0; j < layer.outputs; ++j) {
      const int64_t row = order[static_cast<size_t>(j % train.size())];
      std::copy_n(train.features.Row<T>(row), layer.inputs, network.Weights(0).Row<T>(j));
    }
  });
}

}  // namespace lamina
