// Signals that ask for an end, counted.
#include "interrupt.h"

#include <atomic>
#include <cerrno>

#include "lamina/base/part_file.h"
#include "lamina/platform/process.h"

namespace lamina::cli {
namespace {

// The one global: a signal handler can reach nothing else.
std::atomic<int> requests{0};
static_assert(std::atomic<int>::is_always_lock_free);

void Handle(int signal) {
  const int before = errno;
  const int request = ++requests;
  if (request == 1) {
    platform::IgnoreBrokenPipes();  // who reads the output may have got the same signal: that must not end the run
    platform::LeaveFullPipe(platform::kStandardOutput);
    platform::LeaveFullPipe(platform::kStandardError);
  } else if (request >= kRequestsToEndAtOnce) {  // without files that are no use to anybody
    RemovePartFiles();
    platform::EndBySignal(signal);
  }
  errno = before;
}

}  // namespace

void CatchInterrupts() { platform::OnEndRequests(Handle); }

bool Interrupted() { return requests.load() != 0; }

}  // namespace lamina::cli
