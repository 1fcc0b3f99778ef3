// The times that the performance model of ranks starts from, measured on this machine.
#pragma once

#include "lamina/cluster/performance_model.h"
#include "lamina/run/session.h"

namespace lamina {

/// Trains copies of the session's network for some steps, of a whole batch in `shards` shards and of one shard alone:
/// about a second. The session is as it was.
StepCost MeasureStepCost(const TrainSession& session, int64_t shards);

}  // namespace lamina
