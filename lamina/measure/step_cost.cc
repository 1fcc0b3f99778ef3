// Two measurements and a line through them.
#include "lamina/measure/step_cost.h"

#include <algorithm>
#include <vector>

#include "lamina/base/timing.h"
#include "lamina/cluster/sharded_steps.h"
#include "lamina/train/trainer.h"

namespace lamina {
namespace {

constexpr double kMeasure_seconds = 0.5;
constexpr int kFewest = 8;

// The share of a step's multiplications that weight gradients take. Layers below the first trained one have only a
// forward pass, and nothing goes back through that one.
double ShareOfWeightGradients(const TrainSession& session) {
  const std::vector<LayerSpec>& layers = session.model().network.layers();
  const std::vector<bool>& frozen = session.options().step.frozen;
  double gradients = 0;
  double all = 0;
  bool above_trained = false;
  for (size_t l = 0; l < layers.size(); ++l) {
    const auto weights = static_cast<double>(layers[l].weight_count());
    const bool trained = frozen.empty() || !frozen[l];
    gradients += trained ? weights : 0;
    all += weights * (1 + (trained ? 1 : 0) + (above_trained ? 1 : 0));
    above_trained = above_trained || trained;
  }
  return gradients / all;
}

double SecondsOfStep(const TrainSession& session, int64_t batch, int64_t shards, std::vector<int64_t>& part_bytes) {
  Network network = session.model().network;
  TrainOptions options = session.options();
  options.batch = batch;
  options.shards = shards;
  options.sharded_rows = 0;  // the rows that are here will do
  options.patience = options.patience_waves = 0;
  options.epochs = 1 << 20;
  Trainer trainer(network, session.backend(), options);
  TrainCallbacks callbacks;
  Stopwatch total;
  Stopwatch one;
  std::vector<double> steps;
  callbacks.stop_requested = [&] {  // after every step
    steps.push_back(one.Elapsed_seconds());
    one.Restart();
    return std::ssize(steps) > kFewest && total.Elapsed_seconds() > kMeasure_seconds;
  };
  trainer.Run(session.train(), nullptr, callbacks);
  part_bytes = trainer.part_bytes();
  const auto middle =
      steps.begin() + std::ssize(steps) / 2;  // not the last step of an epoch, which may have less to do
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace

StepCost MeasureStepCost(const TrainSession& session, int64_t shards) {
  const int64_t batch = std::min(session.options().batch, session.train().size());
  shards = std::min(shards, batch);
  StepCost cost;
  const double whole = SecondsOfStep(session, batch, shards, cost.part_bytes);
  const double one = SecondsOfStep(session, ShardedSteps::SamplesOfShard(batch, shards), 1, cost.part_bytes);
  cost.gradient_bytes = session.model().network.parameter_bytes();
  cost.shard_seconds = shards == 1 ? one : std::max(0.0, (whole - one) / static_cast<double>(shards - 1));
  cost.parts_seconds = ShareOfWeightGradients(session) * cost.shard_seconds;
  cost.fixed_seconds = std::max(0.0, one - cost.shard_seconds);
  return cost;
}

}  // namespace lamina
