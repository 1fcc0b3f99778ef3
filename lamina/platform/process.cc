// POSIX.
#include "lamina/platform/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

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

void SetVariable(const char* name, const char* value, bool replace) noexcept { setenv(name, value, replace ? 1 : 0); }
void EndNow(int code) noexcept { _exit(code); }

std::string KernelName() {
  utsname kernel{};
  return uname(&kernel) == 0 ? std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine : "";
}

int64_t InstalledMemory_bytes() noexcept {
  return std::max<int64_t>(0, sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::optional<int64_t> AddressSpaceLimit_bytes() noexcept { return LimitOf(RLIMIT_AS); }
std::optional<int64_t> DataLimit_bytes() noexcept { return LimitOf(RLIMIT_DATA); }

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
