// effort="best" from Python.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "lamina/run/session.h"
#include "python/src/interrupts.h"

namespace lamina {
struct RawData;
}

namespace lamina::python {

struct BestRun {
  std::unique_ptr<TrainSession> session;  // its Run() makes the models answer together; trains nothing
  nlohmann::json cross_validation;
  bool stopped = false;  // by Ctrl-C: the best of the models so far
};

/// Trains the portfolio without the interpreter's lock. Ctrl-C before its first model is thrown, as whatever a signal's
/// handler throws. `read`: called once.
BestRun TrainBest(const TrainSettings& settings, const std::function<RawData()>& read, Interrupts& interrupts);

}  // namespace lamina::python
