// Training sessions side by side on one device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lamina/run/session.h"

namespace lamina {

/// How many sessions like this one, about, the backend has room for at a time; 1: it runs one after the other.
int64_t MostSideBySide(const TrainSession& session);

/// Runs all of them, each in a thread. The first is in the calling thread and alone tells `callbacks` how far it is;
/// they are asked in that thread whether to stop, for all. Throws what one of them threw, after the end of all.
std::vector<TrainResult> RunSideBySide(const std::vector<std::unique_ptr<TrainSession>>& sessions,
                                       const TrainCallbacks& callbacks);

}  // namespace lamina
