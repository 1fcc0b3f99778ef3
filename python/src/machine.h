// Where bindings compute: backends by name and number of threads, each made once.
#pragma once

#include <string>

#include "lamina/backend/backend.h"

namespace lamina::python {

/// `threads` 0: UsualThreads(). Throws Error as MakeBackend(). Safe for several threads; the backend lives as long as
/// the process. After a fork, a backend that computes on a device is refused in the child (Error(kUnsupported)).
const Backend& BackendOf(const std::string& name, int threads);

/// What `threads` means now.
int ThreadsOf(int threads);

}  // namespace lamina::python
