// sysctl(3) and Mach, in the place of /proc and of what else Linux has.
#include "lamina/platform/process.h"

#include <fcntl.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>

#include "lamina/platform/child.h"
#include "lamina/platform/posix.h"
#include "lamina/platform/thread.h"

namespace lamina::platform {
namespace {

int64_t SystemNumber(const char* name) {  // 0 where it is not known
  int64_t value = 0;                      // some are of 32 bits, with the low ones first
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

bool KeepFromChildren(int descriptor, bool waits) {
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && (waits || fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0);
}

int KeptSocket(int descriptor, bool waits) {
  const int yes = 1;  // MSG_NOSIGNAL is younger than this
  if (descriptor >= 0 && (!KeepFromChildren(descriptor, waits) ||
                          setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes) != 0)) {
    const int before = errno;
    close(descriptor);
    errno = before;
    return -1;
  }
  return descriptor;
}

}  // namespace

std::string ProgramFile() {
  std::array<char, 4096> path{};
  uint32_t size = path.size();
  if (_NSGetExecutablePath(path.data(), &size) != 0) {
    return "";
  }
  std::error_code failed;
  return std::filesystem::canonical(path.data(), failed).string();
}

int64_t PeakMemory_bytes() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;  // bytes here
}

int64_t FreeMemory_bytes() noexcept {
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const bool known = host_statistics64(mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages),
                                       &count) == KERN_SUCCESS;
  return known ? (int64_t{pages.free_count} + pages.inactive_count) * sysconf(_SC_PAGESIZE) : 0;
}

int64_t CacheSize_bytes(int level) noexcept {
  constexpr std::array kNames{"hw.l1dcachesize", "hw.l2cachesize", "hw.l3cachesize"};
  return SystemNumber(kNames.at(static_cast<size_t>(level - 1)));
}

std::string ProcessorsText() {
  std::array<char, 128> name{};
  size_t size = name.size() - 1;
  sysctlbyname("machdep.cpu.brand_string", name.data(), &size, nullptr, 0);
  std::string text = std::string("model name : ") + name.data() + "\n";
  const int64_t cores = SystemNumber("hw.physicalcpu");
  for (int64_t i = 0; i < RunningProcessors() && cores > 0; ++i) {
    text += "processor : " + std::to_string(i) + "\ncore id : " + std::to_string(i % cores) + "\n";
  }
  return text;
}

int AskForTileRegisters() noexcept { return ENOSYS; }

std::optional<std::chrono::nanoseconds> ProcessorTime(const Child& child) noexcept {
  rusage_info_v2 usage{};
  if (child.number <= 0 ||
      proc_pid_rusage(static_cast<int>(child.number), RUSAGE_INFO_V2, reinterpret_cast<rusage_info_t*>(&usage)) != 0) {
    return std::nullopt;
  }
  mach_timebase_info_data_t tick{};
  mach_timebase_info(&tick);
  return std::chrono::nanoseconds((usage.ri_user_time + usage.ri_system_time) * tick.numer / tick.denom);
}

bool Computes(const Child& child) {
  proc_taskinfo info{};
  return proc_pidinfo(static_cast<int>(child.number), PROC_PIDTASKINFO, 0, &info, sizeof info) == sizeof info &&
         info.pti_numrunning > 0;
}

int OpenSocket(int family, int kind, bool waits) noexcept { return KeptSocket(socket(family, kind, 0), waits); }

int AcceptSocket(int listening, sockaddr_storage& address) noexcept {
  socklen_t size = sizeof address;
  return KeptSocket(accept(listening, reinterpret_cast<sockaddr*>(&address), &size), false);
}

bool OpenPipe(std::array<int, 2>& ends) noexcept {
  return pipe(ends.data()) == 0 && KeepFromChildren(ends[0], true) && KeepFromChildren(ends[1], true);
}

bool OpenSocketPair(std::array<int, 2>& ends) noexcept {
  return socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0 && KeptSocket(ends[0], true) >= 0 &&
         KeptSocket(ends[1], true) >= 0;
}

// There is no sigtimedwait(2): it looks 50 times a second.
int WaitForSignal(const sigset_t& set, const timespec* most) noexcept {
  constexpr timespec kPause{0, 20'000'000};
  const int64_t end_ns = most == nullptr ? 0 : SteadyTime_ns() + most->tv_sec * int64_t{1'000'000'000} + most->tv_nsec;
  for (;;) {
    sigset_t pending;
    sigpending(&pending);
    for (int number = 1; number < NSIG; ++number) {
      if (sigismember(&set, number) == 1 && (most == nullptr || sigismember(&pending, number) == 1)) {
        int taken = 0;
        return sigwait(&set, &taken) == 0 ? taken : -1;
      }
    }
    if (SteadyTime_ns() >= end_ns) {
      return -1;
    }
    nanosleep(&kPause, nullptr);
  }
}

timespec TimeOfChange(const struct stat& status) noexcept { return status.st_mtimespec; }

}  // namespace lamina::platform
