// CPUID, XCR0 and what the system allows.
#include "lamina/backend/cpu/amx_support.h"

#include "lamina/backend/cpu/x86_features.h"
#if defined(__x86_64__) && defined(__linux__)
#include <cerrno>
#include <system_error>

#include "lamina/platform/process.h"
#endif

namespace lamina::cpu {

AmxSupport AmxSupportOf(uint32_t leaf_7_edx, uint64_t saved_registers) {
  constexpr uint32_t kBf16 = 1U << 22U;
  constexpr uint32_t kTile = 1U << 24U;
  constexpr uint32_t kInt8 = 1U << 25U;
  constexpr uint64_t kTileRegisters = (uint64_t{1} << 17U) | (uint64_t{1} << 18U);  // their shapes and their contents
  if ((leaf_7_edx & kTile) == 0 || (leaf_7_edx & (kBf16 | kInt8)) == 0) {
    return {false, false, "the processor has no AMX"};
  }
  if ((saved_registers & kTileRegisters) != kTileRegisters) {
    return {false, false, "the system does not save AMX registers"};
  }
  return {(leaf_7_edx & kBf16) != 0, (leaf_7_edx & kInt8) != 0, ""};
}

#if defined(__x86_64__)

AmxSupport FindAmx() { return AmxSupportOf(Cpuid(7, 0).d, SavedRegisters()); }

#else

AmxSupport FindAmx() { return AmxSupportOf(0, 0); }

#endif

#if defined(__x86_64__) && defined(__linux__)

std::string AskForTiles() {
  const int error = platform::AskForTileRegisters();
  if (error == 0) {
    return "";
  }
  return error == ENOSPC
             ? "the system refuses AMX registers: the alternate signal stack of a thread is too small for them"
             : "the system refuses AMX registers: " + std::generic_category().message(error);
}

#else

std::string AskForTiles() { return "AMX registers are asked for on Linux only"; }

#endif

}  // namespace lamina::cpu
