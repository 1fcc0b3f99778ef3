// Signals that ask for an end, counted.
#include "interrupt.h"

#include <atomic>
#include <csignal>

#include "lamina/base/part_file.h"

namespace lamina::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};

// The one global: a signal handler can reach nothing else.
std::atomic<int> requests{0};
static_assert(std::atomic<int>::is_always_lock_free);

void Handle(int signal) {
  const int request = ++requests;
  if (request == 1) {
    std::signal(SIGPIPE, SIG_IGN);  // who reads the output may have got the same signal: that must not end the run
  } else if (request >= kRequestsToEndAtOnce) {  // without files that are no use to anybody
    RemovePartFiles();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
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
