// POSIX, and what Linux adds.
#include "lamina/platform/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace lamina::platform {
namespace {

std::optional<int64_t> LimitOf(int resource) {
  struct rlimit most {};
  if (getrlimit(resource, &most) != 0 || most.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return static_cast<int64_t>(most.rlim_cur);
}

std::atomic<void (*)(const void*)> cut_mapping{nullptr};
void HandleCutMapping(int, siginfo_t* info, void*) { cut_mapping.load()(info->si_addr); }

}  // namespace

int64_t ProcessNumber() noexcept { return getpid(); }

std::string HostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> WordsOfProgram(int count, const char* const* words) { return {words, words + count}; }

std::string FolderOfCaches() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? (std::filesystem::path(home) / ".cache").string() : "";
}

std::string ProgramFile() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

void RunAnew(const char* program, char** words) noexcept { execv(program, words); }
void SetVariable(const char* name, const char* value, bool replace) noexcept { setenv(name, value, replace ? 1 : 0); }
void EndNow(int code) noexcept { _exit(code); }

int64_t PeakMemory_bytes() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

std::string KernelName() {
  utsname kernel{};
  return uname(&kernel) == 0 ? std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine : "";
}

int64_t InstalledMemory_bytes() noexcept {
  return std::max<int64_t>(0, sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}
int64_t FreeMemory_bytes() noexcept { return std::max<int64_t>(0, sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

// glibc knows from CPUID (x86) or registers, also where /sys is missing.
int64_t CacheSize_bytes([[maybe_unused]] int level) noexcept {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  constexpr std::array kNames{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  return std::max<int64_t>(0, sysconf(kNames.at(static_cast<size_t>(level - 1))));
#else
  return 0;
#endif
}

std::string ProcessorsText() { return ""; }

std::optional<int64_t> AddressSpaceLimit_bytes() noexcept { return LimitOf(RLIMIT_AS); }
std::optional<int64_t> DataLimit_bytes() noexcept { return LimitOf(RLIMIT_DATA); }

int AskForTileRegisters() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  // From asm/prctl.h, which headers older than Linux 5.16 lack.
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileContents = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileContents) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

bool IsTerminal(int descriptor) noexcept { return isatty(descriptor) == 1; }

TerminalSize SizeOfTerminal(int descriptor) noexcept {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? TerminalSize{size.ws_col, size.ws_row} : TerminalSize{};
}

bool ShowsColours(int descriptor) noexcept {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb" && IsTerminal(descriptor);
}

void PrepareStandardStreams() noexcept {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0) {
      open("/dev/null", O_RDONLY);
    }
  }
}

void LeaveFullPipe(int descriptor) noexcept {
  struct stat status {};
  pollfd asked{descriptor, POLLOUT, 0};
  if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode) || poll(&asked, 1, 0) != 0) {
    return;
  }
  if (const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC); nothing >= 0) {
    dup2(nothing, descriptor);
    close(nothing);
  }
}

void OnEndRequests(void (*handler)(int)) noexcept {
  constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGXCPU};
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) {
    sigaddset(&action.sa_mask, signal);
  }
  for (const int signal : kSignals) {
    struct sigaction before {};
    const bool ignored = sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (signal != SIGHUP || !ignored) {  // nohup asks to outlive the terminal
      sigaction(signal, &action, nullptr);
    }
  }
}

void OnCutMapping(void (*handler)(const void*)) noexcept {
  cut_mapping.store(handler);
  struct sigaction action {};
  action.sa_sigaction = HandleCutMapping;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

void LeaveCutMapping() noexcept { std::signal(SIGBUS, SIG_DFL); }  // the instruction raises it again

void OnBrokenPipe(void (*handler)(int)) noexcept {
  struct sigaction before {};
  if (sigaction(SIGPIPE, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, handler);
  }
}

void IgnoreBrokenPipes() noexcept { std::signal(SIGPIPE, SIG_IGN); }
void IgnoreFileSizeLimit() noexcept { std::signal(SIGXFSZ, SIG_IGN); }

void EndBySignal(int signal) noexcept {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace lamina::platform
