// Signals that ask for an end, counted.
#include "interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "lamina/base/part_file.h"

namespace lamina::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};

// The one global: a signal handler can reach nothing else.
std::atomic<int> requests{0};
static_assert(std::atomic<int>::is_always_lock_free);

// Where a pipe is full because nobody reads it, the write that waits for a reader is begun again when the handler
// returns: into nothing, so that the run sees that it is to end.
void LeaveFullPipe(int descriptor) {
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

void Handle(int signal) {
  const int before = errno;
  const int request = ++requests;
  if (request == 1) {
    std::signal(SIGPIPE, SIG_IGN);  // who reads the output may have got the same signal: that must not end the run
    LeaveFullPipe(STDOUT_FILENO);
    LeaveFullPipe(STDERR_FILENO);
  } else if (request >= kRequestsToEndAtOnce) {  // without files that are no use to anybody
    RemovePartFiles();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  errno = before;
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = Handle;
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

bool Interrupted() { return requests.load() != 0; }

}  // namespace lamina::cli
