// Backend "cpu": the fast one. Blocked Highway kernels chosen at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"

namespace lamina {

std::unique_ptr<Backend> MakeCpuBackend(const BackendOptions& options);
/// Instruction sets compiled in that this CPU has and LAMINA_ISA allows, best first ("AVX3", "AVX2", "SCALAR"); the
/// first is used.
std::vector<std::string> CpuTargets();

}  // namespace lamina
