// One pointer a thread.
#include "lamina/base/stop.h"

#include <utility>

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

}  // namespace lamina
