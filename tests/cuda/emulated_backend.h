// Backend "cuda" on the host: its own code, its kernels on fibers (emulator.h).
#pragma once

#include <memory>

#include "lamina/backend/backend.h"

namespace lamina::cuda_emulated {

std::unique_ptr<Backend> MakeBackend(const BackendOptions& options);

}  // namespace lamina::cuda_emulated
