// Several training runs on one device at once.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"

namespace lamina {

/// A backend whose device has room for more runs than one.
class RunsBeside {
 public:
  virtual ~RunsBeside() = default;
  /// Another backend of the same device, kernel and plans, for a run in a thread of its own. Recorded steps of all
  /// such backends go to the device together, so their runs should be alike. A run waits for the others of them that
  /// have recorded steps and have not ended.
  virtual std::unique_ptr<Backend> MakeBeside() const = 0;
};

}  // namespace lamina
