// The ranks' clocks, and when their links are free.
#include "lamina/cluster/step_simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/base/random.h"
#include "lamina/cluster/shards.h"

namespace lamina {
namespace {

constexpr double kFlag_bytes = 32;

class Job {
 public:
  Job(const NetworkCost& network, int ranks) : network_(network), clocks_(static_cast<size_t>(ranks)) {}

  std::vector<double>& clocks() { return clocks_; }

  // All with all, in the order of the MPI plug-in: rank r sends to r + 1, r + 2, ... Every rank goes on when it has
  // sent and received everything.
  void Exchange(double bytes) {
    const size_t count = clocks_.size();
    const double message = network_.latency_seconds + bytes / network_.bytes_per_second;
    std::vector<double> sends = clocks_;  // when the link out of a rank is free, from when it comes here on
    std::vector<double> receives = clocks_;
    for (size_t i = 1; i < count; ++i) {
      for (size_t r = 0; r < count; ++r) {
        const size_t peer = (r + i) % count;
        const double done = std::max(sends[r], receives[peer]) + message;
        sends[r] = receives[peer] = done;
      }
    }
    for (size_t r = 0; r < count; ++r) {
      clocks_[r] = std::max(sends[r], receives[r]);
    }
  }

 private:
  NetworkCost network_;
  std::vector<double> clocks_;
};

}  // namespace

double SimulateSteps(const StepCost& step, const NetworkCost& network, int64_t shards, int ranks, int steps,
                     const Stragglers& stragglers) {
  Job job(network, ranks);
  Random random(stragglers.seed);
  const double slice = static_cast<double>(step.gradient_bytes) / ranks;
  size_t nodes = 0;
  for (int r = 0; r < ranks; ++r) {
    nodes = std::max(nodes, NodesOf(PartOf(shards, ranks, r)).size());
  }
  for (int s = 0; s < steps; ++s) {
    for (int r = 0; r < ranks; ++r) {
      const auto own = static_cast<double>(PartOf(shards, ranks, r).count());
      const double late = stragglers.mean > 0 ? -stragglers.mean * std::log(1 - random.Uniform()) : 0;
      const double slow = r < stragglers.slow_ranks ? stragglers.slowdown : 1;
      job.clocks()[static_cast<size_t>(r)] += (step.fixed_seconds + own * step.shard_seconds) * (1 + late) * slow;
    }
    if (ranks > 1) {
      for (size_t n = 0; n < nodes; ++n) {
        job.Exchange(slice);
      }
      job.Exchange(slice);
      job.Exchange(kFlag_bytes);
      job.Exchange(kFlag_bytes);
    }
  }
  return *std::max_element(job.clocks().begin(), job.clocks().end()) / steps;
}

}  // namespace lamina
