// The process, its console, and what asks it to end.
#include "lamina/platform/process.h"

#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): _putenv_s

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <vector>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

std::atomic<void (*)(int)> end_request{nullptr};
std::atomic<void (*)(const void*)> cut_mapping{nullptr};

// Runs on a thread of its own. Where the window is closed or the user leaves, the process ends with this function,
// which waits for all the time that the system gives.
BOOL WINAPI HandleConsole(DWORD event) {
  end_request.load()(SIGINT);
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) {
    Sleep(INFINITE);
  }
  return TRUE;
}

// What a mapping cannot read: its disk or its network has gone. Files that are mapped cannot be cut short.
LONG CALLBACK HandleFault(EXCEPTION_POINTERS* fault) {
  const EXCEPTION_RECORD& record = *fault->ExceptionRecord;
  if (record.ExceptionCode == static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR) && record.NumberParameters >= 2) {
    if (const auto handler = cut_mapping.load(); handler != nullptr) {
      handler(reinterpret_cast<const void*>(record.ExceptionInformation[1]));
    }
  }
  return EXCEPTION_CONTINUE_SEARCH;
}

MEMORYSTATUSEX MemoryNow() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return status;
}

// The console's way of characters, which the program that started this one gets back.
UINT console_code_page = 0;
void GiveBackConsole() { SetConsoleOutputCP(console_code_page); }

}  // namespace

int64_t ProcessNumber() noexcept { return GetCurrentProcessId(); }

std::string HostName() {
  std::array<wchar_t, 256> name{};
  auto size = static_cast<DWORD>(name.size());
  return GetComputerNameExW(ComputerNameDnsHostname, name.data(), &size) != 0 ? windows::Narrow({name.data(), size})
                                                                              : "";
}

std::string ProgramFile() {
  std::array<wchar_t, 32768> path{};
  const DWORD size = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
  return windows::Narrow({path.data(), size});
}

void SetVariable(const char* name, const char* value, bool replace) noexcept {
  if (replace || std::getenv(name) == nullptr) {
    _putenv_s(name, value);
  }
}

void EndNow(int code) noexcept {
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(code));
  std::_Exit(code);
}

std::vector<std::string> WordsOfProgram(int, const char* const*) {
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> narrow;
  for (int i = 0; i < count; ++i) {
    narrow.push_back(windows::Narrow(words[i]));
  }
  LocalFree(words);
  return narrow;
}

std::string FolderOfCaches() {
  const wchar_t* folder = _wgetenv(L"LOCALAPPDATA");
  return folder == nullptr ? "" : windows::Narrow(folder);
}

int64_t PeakMemory_bytes() noexcept {
  PROCESS_MEMORY_COUNTERS counters{};
  GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
  return static_cast<int64_t>(counters.PeakWorkingSetSize);
}

std::string KernelName() {
  const auto version_of = reinterpret_cast<LONG(WINAPI*)(OSVERSIONINFOW*)>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")));
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof version;
  if (version_of == nullptr || version_of(&version) != 0) {
    return "Windows";
  }
  return "Windows " + std::to_string(version.dwMajorVersion) + "." + std::to_string(version.dwMinorVersion) + "." +
         std::to_string(version.dwBuildNumber) + " x86_64";
}

int64_t InstalledMemory_bytes() noexcept { return static_cast<int64_t>(MemoryNow().ullTotalPhys); }
int64_t FreeMemory_bytes() noexcept { return static_cast<int64_t>(MemoryNow().ullAvailPhys); }

std::optional<int64_t> AddressSpaceLimit_bytes() noexcept { return std::nullopt; }
std::optional<int64_t> DataLimit_bytes() noexcept { return std::nullopt; }
int AskForTileRegisters() noexcept { return ENOSYS; }

bool IsTerminal(int descriptor) noexcept {
  DWORD mode = 0;
  return GetConsoleMode(windows::HandleOf(descriptor), &mode) != 0;
}

TerminalSize SizeOfTerminal(int descriptor) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (GetConsoleScreenBufferInfo(windows::HandleOf(descriptor), &info) == 0) {
    return {};
  }
  return {info.srWindow.Right - info.srWindow.Left + 1, info.srWindow.Bottom - info.srWindow.Top + 1};
}

bool ShowsColours(int descriptor) noexcept {
  const HANDLE console = windows::HandleOf(descriptor);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) != 0 &&
         ((mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0 ||
          SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0);
}

// The same bytes as elsewhere: no '\r' is added, and consoles read UTF-8.
void PrepareStandardStreams() noexcept {
  for (std::FILE* stream : {stdin, stdout, stderr}) {
    if (_fileno(stream) >= 0) {
      _setmode(_fileno(stream), _O_BINARY);
    }
  }
  if (IsTerminal(kStandardOutput) || IsTerminal(kStandardError)) {
    console_code_page = GetConsoleOutputCP();
    if (console_code_page != CP_UTF8 && SetConsoleOutputCP(CP_UTF8) != 0) {
      std::atexit(GiveBackConsole);
    }
  }
}

void LeaveFullPipe(int) noexcept {}  // the handler has a thread of its own: nothing waits for it

void OnEndRequests(void (*handler)(int)) noexcept {
  end_request.store(handler);
  SetConsoleCtrlHandler(nullptr, FALSE);  // who started it may have told it to be deaf
  SetConsoleCtrlHandler(HandleConsole, TRUE);
}

void OnCutMapping(void (*handler)(const void*)) noexcept {
  if (cut_mapping.exchange(handler) == nullptr) {
    AddVectoredExceptionHandler(/*First=*/1, HandleFault);
  }
}

void LeaveCutMapping() noexcept { cut_mapping.store(nullptr); }
void OnBrokenPipe(void (*)(int)) noexcept {}  // the write fails
void IgnoreBrokenPipes() noexcept {}
void IgnoreFileSizeLimit() noexcept {}
void EndBySignal(int) noexcept { EndNow(static_cast<int>(STATUS_CONTROL_C_EXIT)); }

}  // namespace lamina::platform
