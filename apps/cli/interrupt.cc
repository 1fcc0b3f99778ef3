// Ctrl-C as a flag.
#include "interrupt.h"

#include <csignal>

#include "lamina/base/part_file.h"

namespace lamina::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // the one global: a signal handler can reach nothing else

void Handle(int signal) {
  if (interrupted != 0) {  // the second time: at once, but without files that are no use to anybody
    RemovePartFiles();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupted = 1;
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

}  // namespace lamina::cli
