// POSIX.
#include "lamina/platform/daemon.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <ctime>

#include "lamina/platform/posix.h"

namespace lamina::platform {
namespace {

sigset_t Wishes() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : std::array{SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

void HoldWishes() noexcept {
  const sigset_t set = Wishes();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Wish NextWish(double seconds) noexcept {
  const sigset_t set = Wishes();
  int signal = 0;
  if (seconds < 0) {
    signal = WaitForSignal(set, nullptr);
  } else {
    const auto whole = static_cast<time_t>(seconds);
    const timespec time{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
    signal = WaitForSignal(set, &time);
  }
  return signal == SIGTERM || signal == SIGINT ? Wish::kEnd : signal == SIGHUP ? Wish::kRenew : Wish::kNone;
}

FileStamp StampOf(const char* path) noexcept {
  struct stat status {};
  if (stat(path, &status) != 0) {
    return {};
  }
  const timespec changed = TimeOfChange(status);
  return {changed.tv_sec, changed.tv_nsec, status.st_size, static_cast<uint64_t>(status.st_ino)};
}

int OpenLog(const char* path) noexcept { return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640); }

void RaiseFileLimit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace lamina::platform
