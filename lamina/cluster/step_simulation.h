// Steps of many ranks, message by message: what the performance model leaves out, slow ranks above all.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/cluster/performance_model.h"

namespace lamina {

/// Ranks that are slower than others, at random: in each step the arithmetic of a rank takes 1 + x times as long, x of
/// an exponential distribution; and some ranks take longer in every step.
struct Stragglers {
  double mean = 0;         // of x
  int64_t slow_ranks = 0;  // the first ones
  double slowdown = 1;     // of their arithmetic
  uint64_t seed = 1;
};

/// Mean seconds of a step of ShardedSteps on `ranks` ranks (and as many shards, or a multiple), of `steps` simulated
/// one after the other. Events: every rank computes, sends each other rank its slices one after another while it
/// receives theirs one after another (a message takes latency + bytes / bandwidth, of a free sender and a free
/// receiver), adds up, and sends its slice of the sum to all; a rank's next step begins when it has all slices. Parts
/// of the gradient are exchanged so one after the other while the next ones are computed. The loss and the wish to stop
/// are such exchanges, too, of 32 bytes. The work grows with the square of the ranks.
double SimulateSteps(const StepCost& step, const NetworkCost& network, int64_t shards, int ranks, int steps,
                     const Stragglers& stragglers = {});

}  // namespace lamina
