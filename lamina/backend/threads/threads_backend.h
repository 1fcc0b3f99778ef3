// Backend "threads": Algorithm 3 of the 2016 paper over the plain loops of "serial".
#pragma once

#include <memory>

#include "lamina/backend/backend.h"

namespace lamina {

std::unique_ptr<Backend> MakeThreadsBackend(const BackendOptions& options);

}  // namespace lamina
