// Ctrl-C as a flag.
#include "interrupt.h"

#include <csignal>

namespace lamina::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // the one global: a signal handler can reach nothing else

void Handle(int) { interrupted = 1; }

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

}  // namespace lamina::cli
