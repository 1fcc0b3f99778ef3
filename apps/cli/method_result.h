// What train says about a method without epochs.
#pragma once

#include "lamina/run/session.h"

namespace lamina::cli {

/// The network, which is known only now, and what the method chose.
void PrintMethodResult(const TrainSession& session, const TrainResult& result);

}  // namespace lamina::cli
