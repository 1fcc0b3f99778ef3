// One pointer a thread.
#include "lamina/base/stop.h"

#include <utility>

#include "lamina/base/abandon.h"

namespace lamina {
namespace {

thread_local StopScope* innermost = nullptr;

}  // namespace

StopScope::StopScope(std::function<bool()> requested)
    : requested_(std::move(requested)), outer_(std::exchange(innermost, this)) {}

StopScope::~StopScope() { innermost = outer_; }

bool StopRequested() { return innermost != nullptr && innermost->requested_(); }

void StopPoint() {
  if (StopRequested()) {
    throw Stopped();
  }
}

bool StopsAt(const std::function<bool()>& requested, const std::function<void()>& fn) {
  const AbandonScope kernels(requested);
  const StopScope scope([&] { return kernels.told() || requested(); });
  try {
    fn();
  } catch (const Stopped&) {
    return true;
  } catch (...) {
    if (kernels.told()) {
      return true;
    }
    throw;
  }
  return kernels.told();
}

}  // namespace lamina
