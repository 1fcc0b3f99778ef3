// AMX, the matrix instructions of x86-64: what the processor has, and the system's leave to use it.
#pragma once

#include <cstdint>
#include <string>

namespace lamina::cpu {

/// What may be used of AMX, and why not more.
struct AmxSupport {
  bool bf16 = false;
  bool bytes = false;
  std::string why_not;  // where neither
};

/// What a processor and its system say: register EDX of CPUID leaf 7, and XCR0, the registers that the system saves (0:
/// it saves none).
AmxSupport AmxSupportOf(uint32_t leaf_7_edx, uint64_t saved_registers);
/// The support of this machine. Asks the system for nothing.
AmxSupport FindAmx();

/// Asks the system for the tile registers, for this process, its threads and children. Signal frames grow by 8 KiB from
/// then on. "" where it grants them, else why not. Thread-safe.
std::string AskForTiles();

}  // namespace lamina::cpu
