// What the emulation tells of runs beside each other.
#pragma once

#include <cstdint>

namespace lamina::cuda_emulated {

/// How many launches were of recorded work of several runs.
int64_t LaunchesTogether();

}  // namespace lamina::cuda_emulated
