// Centers and radius of a first layer of distance neurons.
#include "lamina/settings/centres.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lamina/base/convert.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr const char* kRandomRows = "rows";
constexpr uint64_t kCentreStream = 901;  // of the seed; mean_distance.cc has the one before

}  // namespace

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

std::vector<std::string> CentreChoices() {
  std::vector<std::string> choices = NamesIn(kClusterKinds);
  choices.insert(choices.begin(), kRandomRows);
  return choices;
}

std::optional<ClusterKind> CentresFrom(const std::string& choice) {
  if (choice == kRandomRows) {
    return std::nullopt;
  }
  return ParseName(choice, kClusterKinds, "--centres: unknown choice");
}

void RequireCentres(const TrainSettings& settings, const LayerSpec& first) {
  if (!CentresFrom(settings.centres)) {
    return;
  }
  if (!IsDistance(first.synapse)) {
    RefuseSetting("centres", fmt::format("centers are for distances, and the first layer is {}", NeuronText(first)),
                  settings.centres,
                  "Give it a distance: --neuron l2-gaussian with elm, else --layers l2-gaussian:256,dot-softmax:10");
  }
  if (!settings.start_from.empty()) {
    RefuseSetting("centres", "the first layer starts as in the model of --start-from", settings.centres,
                  "Leave one of them out.");
  }
}

Clusters PlaceClusters(Network& network, const Dataset& train, ClusterOptions options, const Backend& backend) {
  options.count = network.layers().front().outputs;
  MatrixRows rows(train.features.view());
  Clusters clusters = FindClusters(rows, options, backend);
  if (clusters.complete) {
    ConvertMatrix(clusters.centres.view(), network.Weights(0));
  }
  return clusters;
}

}  // namespace lamina
