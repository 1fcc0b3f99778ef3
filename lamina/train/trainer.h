// Trainer: minibatch gradient descent over a data set (2016 paper, Algorithm 2), with validation, schedules and early
// stopping. Its state can be saved after any step and continued to the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/network.h"
#include "lamina/train/history.h"
#include "lamina/train/train_callbacks.h"
#include "lamina/train/train_options.h"
#include "lamina/train/train_state.h"

namespace lamina {

class Communicator;  // cluster/communicator.h

class Trainer {
 public:
  /// `network` gives the first weights and receives the trained ones. Both must outlive the trainer. Throws Error.
  /// `ranks`: those that share every batch, all of them with the same network, options and data; null: none. Then Run()
  /// is collective, and its results are the same bits on all ranks.
  Trainer(Network& network, const Backend& backend, const TrainOptions& options, Communicator* ranks = nullptr);

  /// Goes on from a saved state of the same network, data and options. Throws Error(kBadModel) where it does not fit.
  void Resume(TrainState state);

  /// Trains to the end, an early stop or stop_requested. `validation` may be null. The history's stop_reason says
  /// which. Throws Error(kDiverged) at the first step whose loss is not finite, naming epoch and step.
  const History& Run(const Dataset& train, const Dataset* validation, const TrainCallbacks& callbacks);

  /// Facts of the last Run() by shards: ShardedSteps::overlaps(), ExchangedBy() and PartSizes_bytes().
  const Verdict& overlaps() const { return overlaps_; }
  const std::string& exchanged_by() const { return exchanged_by_; }
  const std::vector<int64_t>& part_bytes() const { return part_bytes_; }

 private:
  void RequireRows(const Dataset& train, const Dataset* validation) const;
  Network& network_;
  const Backend& backend_;
  TrainOptions options_;
  Communicator* ranks_;
  TrainState state_;
  bool resumed_ = false;
  Verdict overlaps_;
  std::string exchanged_by_;
  std::vector<int64_t> part_bytes_;
};

}  // namespace lamina
