// The stages of a network: its layers, and what a step's options put before, into and behind them.
#pragma once

#include <memory>
#include <vector>

#include "lamina/nn/stage.h"

namespace lamina {

class DenseStage;

struct StageRequest {
  const Network& network;
  const ParameterTable& table;
  const StepOptions& options;
  int64_t max_batch = 1;
  bool training = false;
  bool any_slicing = false;
  bool first_sums_given = false;  // ExecutorOptions::first_sums_given
};

struct Stages {
  std::vector<std::unique_ptr<Stage>> all;
  std::vector<DenseStage*> of_layers;  // of every layer the one that has its weights
};

/// Throws Error(kInvalidArgument, kUnsupported) where the options or the backend cannot serve the network.
Stages MakeStages(StageMemory& memory, const StageRequest& request);

}  // namespace lamina
