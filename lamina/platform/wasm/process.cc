// The tab's worker: no signals, no terminal, and memory up to what 32 bits address.
#include "lamina/platform/process.h"

#include <emscripten/heap.h>
#include <malloc.h>

#include <cerrno>
#include <cstdlib>

namespace lamina::platform {

int64_t ProcessNumber() noexcept { return 1; }
std::string HostName() { return ""; }
std::vector<std::string> WordsOfProgram(int count, const char* const* words) { return {words, words + count}; }
std::string FolderOfCaches() { return ""; }
std::string ProgramFile() { return ""; }
void SetVariable(const char* name, const char* value, bool replace) noexcept { setenv(name, value, replace ? 1 : 0); }
void EndNow(int) noexcept { __builtin_trap(); }

int64_t PeakMemory_bytes() noexcept { return static_cast<int64_t>(emscripten_get_heap_size()); }
std::string KernelName() { return "WebAssembly"; }
int64_t InstalledMemory_bytes() noexcept { return static_cast<int64_t>(emscripten_get_heap_max()); }
int64_t FreeMemory_bytes() noexcept {
  const struct mallinfo now = mallinfo();
  return InstalledMemory_bytes() - static_cast<int64_t>(static_cast<uint32_t>(now.uordblks));
}
int64_t CacheSize_bytes(int /*level*/) noexcept { return 0; }
std::string ProcessorsText() { return ""; }
std::optional<int64_t> AddressSpaceLimit_bytes() noexcept { return std::nullopt; }
std::optional<int64_t> DataLimit_bytes() noexcept { return std::nullopt; }
int AskForTileRegisters() noexcept { return ENOSYS; }

bool IsTerminal(int) noexcept { return false; }
TerminalSize SizeOfTerminal(int) noexcept { return {}; }
bool ShowsColours(int) noexcept { return false; }
void PrepareStandardStreams() noexcept {}
void LeaveFullPipe(int) noexcept {}

void OnEndRequests(void (*)(int)) noexcept {}
void OnCutMapping(void (*)(const void*)) noexcept {}
void LeaveCutMapping() noexcept {}
void OnBrokenPipe(void (*)(int)) noexcept {}
void IgnoreBrokenPipes() noexcept {}
void IgnoreFileSizeLimit() noexcept {}
void EndBySignal(int) noexcept { __builtin_trap(); }

}  // namespace lamina::platform
