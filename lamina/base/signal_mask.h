// Threads that no signal of the process comes to.
#pragma once

#include <pthread.h>

#include <csignal>

namespace lamina {

/// While it exists, threads that the calling one starts have all signals blocked: they are for the threads that the
/// host knows. But for those of a thread's own faults, which end a process, past any handler, where they are blocked.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own_fault : {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV}) {
      sigdelset(&blocked, own_fault);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace lamina
