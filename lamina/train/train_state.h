// What training goes on from after it was stopped.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/nn/network.h"
#include "lamina/train/history.h"
#include "lamina/train/train_options.h"

namespace lamina {

/// Everything that training depends on besides data, network shape and options: enough to go on with the same bits.
struct TrainState {
  int64_t epoch = 0;  // whole epochs done
  int64_t step = 0;   // steps done in the current one
  LossSums sums;      // of those steps
  double epoch_seconds = 0;
  int64_t updates = 0;
  int64_t reductions = 0;  // of the plateau schedule
  int64_t epochs_since_best = 0;
  int64_t epochs_since_reduction = 0;
  double best_loss = 0;  // meaningful once history.best_epoch > 0
  History history;
  AlignedBuffer parameters;              // of the running network: Executor::TrainedParameters()
  AlignedBuffer answering_parameters;    // Executor::FoldedParameters(); empty: those are `parameters`
  AlignedBuffer best_parameters;         // empty before the first epoch ends, or when not kept
  std::vector<AlignedBuffer> optimiser;  // of the size of `parameters`
};

/// Whether training of `network` by `options` can go on from `state`, as far as that shows without the data.
Verdict CheckTrainState(const TrainState& state, const Network& network, const TrainOptions& options);

}  // namespace lamina
