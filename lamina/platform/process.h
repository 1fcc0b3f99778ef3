// This process: who it is, what it may use, the signals that come to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lamina::platform {

int64_t ProcessNumber() noexcept;
/// "" where it has none.
std::string HostName();
/// The words that started the program, itself first, as UTF-8: what main() is given where the system has them so.
std::vector<std::string> WordsOfProgram(int count, const char* const* words);
/// Where programs keep what they could make again, for this user; "" where that cannot be told.
std::string FolderOfCaches();
/// The file of the running program; "" where it cannot be told.
std::string ProgramFile();
/// Sets a variable of the environment; `replace`: also one that is there.
void SetVariable(const char* name, const char* value, bool replace) noexcept;
/// Ends the process at once: nothing is flushed, no destructor runs.
[[noreturn]] void EndNow(int code) noexcept;

int64_t PeakMemory_bytes() noexcept;
/// "Linux 6.1.0 x86_64"; "" where it cannot be told.
std::string KernelName();
/// 0 where it cannot be told.
int64_t InstalledMemory_bytes() noexcept;
int64_t FreeMemory_bytes() noexcept;
/// The size of a core's data cache of level 1, 2 or 3; 0 where it cannot be told.
int64_t CacheSize_bytes(int level) noexcept;
/// What stands in /proc/cpuinfo elsewhere, for a system that has no such file; "" for those that have.
std::string ProcessorsText();
/// What the system allows this process; nothing where it sets no limit.
std::optional<int64_t> AddressSpaceLimit_bytes() noexcept;
std::optional<int64_t> DataLimit_bytes() noexcept;
/// Asks for the registers of AMX: 0, or the error's number.
int AskForTileRegisters() noexcept;

constexpr int kStandardOutput = 1, kStandardError = 2;  // their descriptors
bool IsTerminal(int descriptor) noexcept;
struct TerminalSize {
  int columns = 0;  // 0: no terminal
  int rows = 0;
};
TerminalSize SizeOfTerminal(int descriptor) noexcept;
/// Whether a terminal there shows colors; asks it to.
bool ShowsColours(int descriptor) noexcept;
/// A closed standard stream must not become the descriptor of a file that is opened later: what is printed would land
/// in it. Opened for reading, so that writing still fails. All are streams of bytes, and of UTF-8.
void PrepareStandardStreams() noexcept;
/// For handlers of signals. A write that waits because nobody reads a full pipe is begun again when the handler
/// returns: into nothing from now on.
void LeaveFullPipe(int descriptor) noexcept;

/// Calls where somebody asks for an end: SIGINT, SIGTERM, SIGXCPU (the time of `ulimit -t` is over) and SIGHUP (the
/// terminal is gone; not where nohup asks to outlive it). Calls of the system that it interrupts go on.
void OnEndRequests(void (*handler)(int)) noexcept;
/// Calls with the address where a mapped file was cut short by somebody (SIGBUS).
void OnCutMapping(void (*handler)(const void*)) noexcept;
/// For such a handler: the fault happens again, and ends the process.
void LeaveCutMapping() noexcept;
/// Calls where the reader of a pipe is gone, unless somebody ignores that (SIGPIPE).
void OnBrokenPipe(void (*handler)(int)) noexcept;
void IgnoreBrokenPipes() noexcept;
/// A file larger than allowed is an error of the write from now on, not the end of the process (SIGXFSZ).
void IgnoreFileSizeLimit() noexcept;
/// Ends the process by this signal, as if nobody handled it.
void EndBySignal(int signal) noexcept;

}  // namespace lamina::platform
