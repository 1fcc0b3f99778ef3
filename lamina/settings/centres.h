// Where distance neurons start: at rows of the training data or centers of their clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"
#include "lamina/rbf/clusters.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// Sets the weights of the first layer to random training rows, all different while there are enough of them (seeded).
void PlaceCentres(Network& network, const Dataset& train, uint64_t seed);

/// "rows" and kClusterKinds: what --centres can be.
std::vector<std::string> CentreChoices();
/// None: rows. Throws Error(kInvalidArgument) for any other text.
std::optional<ClusterKind> CentresFrom(const std::string& choice);

/// Throws Error(kInvalidArgument) where --centres asks for clusters that the first layer cannot start from.
void RequireCentres(const TrainSettings& settings, const LayerSpec& first);

/// Sets the weights of the first layer to as many centers of clusters of the training rows, whatever their sample
/// weights; `options` need no count. Where stopped (not complete) they stay. What was found. Throws as FindClusters().
/// Collective.
Clusters PlaceClusters(Network& network, const Dataset& train, ClusterOptions options, const Backend& backend);

}  // namespace lamina
