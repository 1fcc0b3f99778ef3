// What train says about a method without epochs, and about a kernel machine.
#pragma once

#include "lamina/run/session.h"

namespace lamina::cli {

/// The lines of FoundLines().
void PrintFound(const TrainSession& session);

/// The network, which is known only now, and what the method chose.
void PrintMethodResult(const TrainSession& session, const TrainResult& result);

}  // namespace lamina::cli
