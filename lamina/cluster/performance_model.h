// What a training step takes on so many ranks: from the times of its parts, before anything starts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lamina/cluster/communicator.h"

namespace lamina {

/// The cost for one rank, computing alone.
struct StepCost {
  double shard_seconds = 0;  // gradient of a shard and adding it up
  double fixed_seconds = 0;  // of every step, whatever it has of the batch: the update, above all
  int64_t gradient_bytes = 0;
  /// Sizes of the gradient's parts that travel by themselves, in the order they are computed in (Exchanges()). Empty:
  /// nothing travels before all of it is there.
  std::vector<int64_t> part_bytes;
  double parts_seconds = 0;  // of shard_seconds, that of these parts; the rest comes before them
};

/// A message of n bytes takes latency + n / bandwidth; a rank sends and receives at the same time, to one after the
/// other.
struct NetworkCost {
  double latency_seconds = 0;
  double bytes_per_second = 0;
};

struct StepTime {
  int ranks = 1;
  double compute_seconds = 0;
  double exchange_seconds = 0;
  double hidden_seconds = 0;  // of these, while something is computed
  double seconds() const { return compute_seconds + exchange_seconds - hidden_seconds; }
};

/// A step of ShardedSteps. The rank with the most of `shards` computes longest. Slices of the gradient are exchanged
/// twice, 2 (p - 1) / p times its bytes in all. Where the number of ranks is no power of two, nodes that a rank cannot
/// join add to that. The loss and the wish to stop are small. Parts of a gradient travel one after the other while the
/// next ones are computed.
StepTime PredictStep(const StepCost& step, const NetworkCost& network, int64_t shards, int ranks);

/// 1, 2, 4, ... up to `most` ranks, and `most`.
std::vector<StepTime> PredictSteps(const StepCost& step, const NetworkCost& network, int64_t shards, int most);

/// What to tell who asks whether ranks pay: the number that is fastest, by how much, and what else there is where they
/// do not.
std::string AdviceOn(const std::vector<StepTime>& times);

/// Between the ranks that call it: small and large exchanges of all with all, some tenths of a second. Collective; all
/// ranks get the same answer.
NetworkCost MeasureNetwork(Communicator& ranks);

}  // namespace lamina
