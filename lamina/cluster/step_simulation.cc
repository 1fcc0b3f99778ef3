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
  void Exchange(double bytes) { Exchange(bytes, clocks_); }

  void Exchange(double bytes, std::vector<double>& clocks) const {
    const size_t count = clocks.size();
    const double message = network_.latency_seconds + bytes / network_.bytes_per_second;
    std::vector<double> sends = clocks;  // when the link out of a rank is free, from when it comes here on
    std::vector<double> receives = clocks;
    for (size_t i = 1; i < count; ++i) {
      for (size_t r = 0; r < count; ++r) {
        const size_t peer = (r + i) % count;
        const double done = std::max(sends[r], receives[peer]) + message;
        sends[r] = receives[peer] = done;
      }
    }
    for (size_t r = 0; r < count; ++r) {
      clocks[r] = std::max(sends[r], receives[r]);
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
  std::vector<double> bytes;  // of every exchange of parts, or of the whole gradient
  for (const IndexRange& range : Exchanges(step.part_bytes, ranks)) {
    bytes.push_back(std::accumulate(step.part_bytes.begin() + range.begin, step.part_bytes.begin() + range.end, 0.0));
  }
  const bool overlaps = bytes.size() > 1;
  if (!overlaps) {
    bytes.assign(1, static_cast<double>(step.gradient_bytes));
  }
  const double all_bytes = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  const double parts_seconds = overlaps ? step.parts_seconds : 0;
  size_t nodes = 0;
  for (int r = 0; r < ranks; ++r) {
    nodes = std::max(nodes, NodesOf(PartOf(shards, ranks, r)).size());
  }
  std::vector<double> slowness(static_cast<size_t>(ranks));  // of each rank in a step
  for (int s = 0; s < steps; ++s) {
    const auto compute = [&](double fixed, double of_shard) {
      for (int r = 0; r < ranks; ++r) {
        const auto own = static_cast<double>(PartOf(shards, ranks, r).count());
        job.clocks()[static_cast<size_t>(r)] += (fixed + own * of_shard) * slowness[static_cast<size_t>(r)];
      }
    };
    for (int r = 0; r < ranks; ++r) {
      const double late = stragglers.mean > 0 ? -stragglers.mean * std::log(1 - random.Uniform()) : 0;
      slowness[static_cast<size_t>(r)] = (1 + late) * (r < stragglers.slow_ranks ? stragglers.slowdown : 1);
    }
    compute(step.fixed_seconds, step.shard_seconds - parts_seconds);
    std::vector<double> arrived = job.clocks();  // what was exchanged beside the computing
    if (ranks > 1) {
      job.Exchange(kFlag_bytes, arrived);
    }
    for (const double part : bytes) {
      compute(0, overlaps ? parts_seconds * part / all_bytes : 0);
      for (size_t r = 0; r < arrived.size(); ++r) {
        arrived[r] = std::max(arrived[r], job.clocks()[r]);
      }
      for (size_t n = 0; n < nodes + 1 && ranks > 1; ++n) {
        job.Exchange(part / ranks, arrived);
      }
    }
    for (size_t r = 0; r < arrived.size(); ++r) {
      job.clocks()[r] = std::max(arrived[r], job.clocks()[r]);
    }
    if (ranks > 1) {
      job.Exchange(kFlag_bytes);
    }
  }
  return *std::max_element(job.clocks().begin(), job.clocks().end()) / steps;
}

}  // namespace lamina
