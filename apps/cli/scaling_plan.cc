// The table of expected times.
#include "scaling_plan.h"
#include "command.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/cluster/performance_model.h"
#include "lamina/cluster/shards.h"
#include "lamina/measure/step_cost.h"
#include "lamina/settings/method.h"
#include "print.h"
#include "ranks.h"

namespace lamina::cli {

void PlanFlags::AddTo(CLI::App& app) {
  app.add_flag("--plan", plan, "Print how fast this training would be on more ranks, and stop");
  app.add_option("--plan-ranks", ranks, "Ranks to look at with --plan")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--latency-us", latency_us, "Microseconds a message takes between ranks, for --plan in one process")
      ->check(CheckFinite)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--bandwidth-gbits", bandwidth_gbits, "Gbit/s between ranks, for --plan in one process")
      ->check(CheckFinite)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

nlohmann::json PlanRanks(const TrainSession& session, const PlanFlags& flags, bool text) {
  if (!LearnsByGradient(session.settings())) {
    RefuseSetting("method", "--plan is of training by gradients", session.settings().method);
  }
  Communicator* ranks = JoinedRanks();
  const bool measured = ranks != nullptr && ranks->size() > 1;
  const NetworkCost network =
      measured ? MeasureNetwork(*ranks) : NetworkCost{1e-6 * flags.latency_us, 1e9 / 8 * flags.bandwidth_gbits};
  const int most = std::max(flags.ranks, measured ? ranks->size() : 1);
  const int64_t batch = std::min(session.options().batch, session.rows().train);
  const int64_t shards = std::max<int64_t>({session.options().shards, most, kShardsOfRanks});
  const StepCost cost = MeasureStepCost(session, shards);
  const std::vector<StepTime> times = PredictSteps(cost, network, std::min(shards, batch), most);
  nlohmann::json rows = nlohmann::json::array();
  if (text) {
    Print("a step of {} samples in {} shards, {:.2f} MB of gradients; network {}: {:.1f} us, {:.1f} Gbit/s\n", batch,
          std::min(shards, batch), 1e-6 * static_cast<double>(cost.gradient_bytes),
          measured ? "measured" : "as given (--latency-us, --bandwidth-gbits)", 1e6 * network.latency_seconds,
          8e-9 * network.bytes_per_second);
    Print("{:>6} {:>12} {:>12} {:>12} {:>14} {:>9}\n", "ranks", "computing", "exchanging", "of it hidden", "samples/s",
          "speed-up");
  }
  for (const StepTime& time : times) {
    const double gain = times.front().seconds() / time.seconds();
    rows.push_back({{"ranks", time.ranks},
                    {"compute_seconds", time.compute_seconds},
                    {"exchange_seconds", time.exchange_seconds},
                    {"hidden_seconds", time.hidden_seconds},
                    {"samples_per_second", static_cast<double>(batch) / time.seconds()},
                    {"speedup", gain}});
    if (text) {
      Print("{:>6} {:>9.3f} ms {:>9.3f} ms {:>9.3f} ms {:>14.0f} {:>9.2f}\n", time.ranks, 1e3 * time.compute_seconds,
            1e3 * time.exchange_seconds, 1e3 * time.hidden_seconds, static_cast<double>(batch) / time.seconds(), gain);
    }
  }
  const std::string advice = AdviceOn(times);
  if (text) {
    Print("{}.\n", advice);
  }
  return {{"batch", batch},
          {"shards", std::min(shards, batch)},
          {"gradient_bytes", cost.gradient_bytes},
          {"shard_seconds", cost.shard_seconds},
          {"fixed_seconds", cost.fixed_seconds},
          {"parts_seconds", cost.parts_seconds},
          {"latency_seconds", network.latency_seconds},
          {"bytes_per_second", network.bytes_per_second},
          {"network_measured", measured},
          {"times", std::move(rows)},
          {"advice", advice}};
}

}  // namespace lamina::cli
