// How many rows may be in memory at once.
#pragma once

#include <cstdint>

#include "lamina/nn/network.h"
#include "lamina/train/train_options.h"

namespace lamina {

/// TrainOptions::window_rows for training on rows in files within `limit_bytes` of resident memory: 0 where all of them
/// fit, else whole batches. By the sizes of data and network alone, so that the order of the rows is the same on every
/// machine. Throws Error(kInvalidArgument), saying the least, where the limit is too small.
int64_t WindowRows(int64_t limit_bytes, int64_t train_rows, const Network& network, const TrainOptions& options);

}  // namespace lamina
