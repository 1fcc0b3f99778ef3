// Backend "serial": plain scalar loops on one thread, the baseline of every speed-up.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"

namespace lamina {

std::unique_ptr<Backend> MakeSerialBackend(const BackendOptions& options);

}  // namespace lamina
