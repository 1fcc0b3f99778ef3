// Backend "cpu" with its kernels for AMX, whose instructions are emulated where the processor lacks them.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"

namespace lamina::amx_emulated {

/// Whether the kernels for AMX can run here but for the instructions that are emulated: x86-64 with AVX-512 and its
/// BF16, and LAMINA_ISA leaves both.
bool Available();

/// As backend "cpu" of a processor with AMX: what AMX serves on tiles, everything else as that backend does.
std::unique_ptr<Backend> MakeBackend(const BackendOptions& options);

}  // namespace lamina::amx_emulated
