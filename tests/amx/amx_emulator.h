// AMX on processors without it: the instructions themselves, executed by the handler of the signal that they raise.
#pragma once

#include <cstdint>

namespace lamina::amx_emulated {

/// While one lives, threads of this process may execute the instructions of AMX-TILE, AMX-BF16 and AMX-INT8; every one
/// traps and takes some 30 us. Each thread has its own tiles. What the processor would refuse (shapes that do not fit,
/// tiles that are not configured) ends the process with SIGILL as there. Several may live; on other systems than Linux
/// on x86-64 they do nothing.
class EmulatedAmx {
 public:
  EmulatedAmx();
  ~EmulatedAmx();
  EmulatedAmx(const EmulatedAmx&) = delete;
  EmulatedAmx& operator=(const EmulatedAmx&) = delete;
};

/// False where the processor has AMX and the system permits it: then it executes them, which these two do not see.
bool Emulates();
/// Instructions executed so far by all threads.
int64_t ExecutedInstructions();
/// Whether the calling thread has tiles configured, which costs whatever runs after it.
bool TilesInUse();

}  // namespace lamina::amx_emulated
