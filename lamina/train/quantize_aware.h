// Fine-tuning of a trained network so that it loses nothing in 8-bit integers (docs/decisions/0068-quantize-aware.md).
#pragma once

#include <cstdint>
#include <functional>

#include "lamina/data/encode/dataset.h"
#include "lamina/model/int8_ranges.h"
#include "lamina/nn/network.h"
#include "lamina/train/train_options.h"

namespace lamina {

struct QuantizeAwareWork {
  const Dataset& train;
  const Matrix& features;  // rows that ranges are measured on
  const Matrix& bounds;    // as MeasureForInt8()
  const TrainOptions& options;
  int64_t epochs = 1;
  /// How good the network is in 8-bit integers, from its outputs for `validation`; less is better.
  const Matrix* validation = nullptr;  // null: the last epoch is kept
  std::function<double(const Matrix& outputs)> judge;
  std::function<bool()> stop_requested;  // asked after each step
};

struct QuantizeAwareResult {
  Int8Ranges ranges;       // those that the network was trained for
  int64_t best_epoch = 0;  // 0: as it was
  bool stopped = false;
};

/// Trains `network` on: its answers and losses are those of the 8-bit integers, gradients go straight through rounding
/// (Bengio, Léonard and Courville 2013). Batches, loss, rule, rates, frozen layers and class weights are those of the
/// options; the rate begins at a tenth and ends at 0. Ranges are measured anew before each epoch. The best of the
/// epochs and of the network as it was is kept. The same bits on any machine with the same arithmetic. Throws
/// Error(kUnsupported) as MeasureForInt8().
QuantizeAwareResult TrainQuantizeAware(Network& network, const QuantizeAwareWork& work);

}  // namespace lamina
