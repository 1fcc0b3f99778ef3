// The arithmetic of docs/cluster.md.
#include "lamina/cluster/performance_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lamina/base/timing.h"
#include "lamina/cluster/shards.h"

namespace lamina {
namespace {

constexpr int kSmallExchanges = 2;  // loss, wish to stop
constexpr int64_t kSmall_bytes = 32;
constexpr int64_t kLarge_bytes = 4 << 20;
constexpr int kRounds = 5;
constexpr int kSmallRepeats = 100;
constexpr double kWorthwhile = 1.15;

// The shortest of some rounds of all ranks exchanging `bytes` with each other, `repeats` times a round.
double ExchangeSeconds(Communicator& ranks, int64_t bytes, int repeats) {
  const auto n = static_cast<size_t>(ranks.size());
  const std::vector<char> sent(static_cast<size_t>(bytes), 'x');
  std::vector<std::vector<char>> received(n, std::vector<char>(static_cast<size_t>(bytes)));
  const std::vector<SentPart> to(n, {sent.data(), bytes});
  std::vector<ReceivedPart> from;
  for (std::vector<char>& part : received) {
    from.push_back({part.data(), bytes});
  }
  double best = 0;
  for (int round = 0; round <= kRounds; ++round) {  // the first one makes connections
    ranks.Barrier();
    const Stopwatch watch;
    for (int i = 0; i < repeats; ++i) {
      ranks.AllToAll(to, from);
    }
    const double seconds = watch.Elapsed_seconds() / repeats;
    best = round <= 1 ? seconds : std::min(best, seconds);
  }
  return best;
}

}  // namespace

StepTime PredictStep(const StepCost& step, const NetworkCost& network, int64_t shards, int ranks) {
  StepTime time;
  time.ranks = ranks;
  const int64_t most = (shards + ranks - 1) / ranks;
  time.compute_seconds = step.fixed_seconds + static_cast<double>(most) * step.shard_seconds;
  if (ranks == 1) {
    return time;
  }
  size_t nodes = 0;  // that a rank sends of every slice
  for (int r = 0; r < ranks; ++r) {
    nodes = std::max(nodes, NodesOf(PartOf(shards, ranks, r)).size());
  }
  const double others = ranks - 1;
  const auto rounds = static_cast<double>(nodes + 1);
  const double message_seconds = others * network.latency_seconds;
  const auto exchange_seconds = [&](int64_t bytes) {
    return rounds * (message_seconds + others / ranks * static_cast<double>(bytes) / network.bytes_per_second);
  };
  const std::vector<IndexRange> exchanges = Exchanges(step.part_bytes, ranks);
  if (exchanges.size() <= 1) {
    time.exchange_seconds = kSmallExchanges * message_seconds + exchange_seconds(step.gradient_bytes);
    return time;
  }
  const double all_bytes = std::accumulate(step.part_bytes.begin(), step.part_bytes.end(), 0.0);
  const double computing = static_cast<double>(most) * step.parts_seconds;
  double computed = 0;               // when the parts so far are, from the first one's begin on
  double arrived = message_seconds;  // and when they have been exchanged, the loss before them
  time.exchange_seconds = kSmallExchanges * message_seconds;
  for (const IndexRange& range : exchanges) {
    const int64_t bytes =
        std::accumulate(step.part_bytes.begin() + range.begin, step.part_bytes.begin() + range.end, int64_t{0});
    computed += computing * static_cast<double>(bytes) / all_bytes;
    arrived = std::max(arrived, computed) + exchange_seconds(bytes);
    time.exchange_seconds += exchange_seconds(bytes);
  }
  const double exposed = std::max(0.0, arrived - computed) + message_seconds;  // the wish to stop comes last
  time.hidden_seconds = std::max(0.0, time.exchange_seconds - exposed);
  return time;
}

std::vector<StepTime> PredictSteps(const StepCost& step, const NetworkCost& network, int64_t shards, int most) {
  std::vector<StepTime> times;
  for (int ranks = 1; ranks < most; ranks *= 2) {
    times.push_back(PredictStep(step, network, shards, ranks));
  }
  times.push_back(PredictStep(step, network, shards, most));
  return times;
}

std::string AdviceOn(const std::vector<StepTime>& times) {
  const StepTime& best = *std::min_element(times.begin(), times.end(),
                                           [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
  const double gain = times.front().seconds() / best.seconds();
  if (gain >= kWorthwhile) {
    return fmt::format("{} ranks should be fastest, {:.1f} times one rank", best.ranks, gain);
  }
  return "ranks will not make this training faster: what they exchange takes about as long as what they save. A larger "
         "--batch, a wider network or a faster network between them would; searches (lamina search --state) always "
         "gain";
}

NetworkCost MeasureNetwork(Communicator& ranks) {
  NetworkCost cost;
  if (ranks.size() == 1) {
    return cost;
  }
  const double others = ranks.size() - 1;
  const double small = ExchangeSeconds(ranks, kSmall_bytes, kSmallRepeats);
  const double large = ExchangeSeconds(ranks, kLarge_bytes, 1);
  cost.latency_seconds = small / others;
  cost.bytes_per_second = others * static_cast<double>(kLarge_bytes) / std::max(large - small, 1e-9);
  ranks.Broadcast(&cost, sizeof(cost), 0);
  return cost;
}

}  // namespace lamina
