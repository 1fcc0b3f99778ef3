// /proc, and what else of processes, descriptors and signals only Linux has.
#include "lamina/platform/process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "lamina/platform/child.h"
#include "lamina/platform/posix.h"

namespace lamina::platform {

std::string ProgramFile() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

int64_t PeakMemory_bytes() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
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

int AskForTileRegisters() noexcept {
#if defined(__x86_64__)
  // From asm/prctl.h, which headers older than Linux 5.16 lack.
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileContents = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileContents) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

std::optional<std::chrono::nanoseconds> ProcessorTime(const Child& child) noexcept {
  clockid_t clock{};
  timespec time{};
  if (child.number <= 0 || clock_getcpuclockid(static_cast<pid_t>(child.number), &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A thread that computes stands as R in /proc.
bool Computes(const Child& child) {
  std::error_code failed;
  std::filesystem::directory_iterator threads("/proc/" + std::to_string(child.number) + "/task", failed);
  for (; !failed && threads != std::filesystem::directory_iterator(); threads.increment(failed)) {
    std::ifstream file(threads->path() / "stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), {});
    const size_t name_end = stat.rfind(')');  // names of programs have brackets and blanks
    if (name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0) {
      return true;
    }
  }
  return false;
}

int OpenSocket(int family, int kind, bool waits) noexcept {
  return socket(family, kind | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0);
}

int AcceptSocket(int listening, sockaddr_storage& address) noexcept {
  socklen_t size = sizeof address;
  return accept4(listening, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

bool OpenPipe(std::array<int, 2>& ends) noexcept { return pipe2(ends.data(), O_CLOEXEC) == 0; }

bool OpenSocketPair(std::array<int, 2>& ends) noexcept {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
}

int WaitForSignal(const sigset_t& set, const timespec* most) noexcept {
  return most == nullptr ? sigwaitinfo(&set, nullptr) : sigtimedwait(&set, nullptr, most);
}

timespec TimeOfChange(const struct stat& status) noexcept { return status.st_mtim; }

}  // namespace lamina::platform
