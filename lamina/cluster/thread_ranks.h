// Ranks that are threads of this process: for tests, and for several sockets of one machine.
#pragma once

#include <functional>

#include "lamina/cluster/communicator.h"

namespace lamina {

/// Runs `work` on `size` threads, each with its rank, and returns when all are done. What the first rank that failed
/// threw is thrown on; the others are then aborted. `patience_seconds` as of the communicators.
void RunRanks(int size, const std::function<void(Communicator&)>& work, double patience_seconds = 600);

}  // namespace lamina
