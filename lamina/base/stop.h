// Work that may be called off: whoever starts it says who is asked, and long computations ask at their stop points.
#pragma once

#include <functional>

namespace lamina {

/// What StopPoint() throws. Nothing went wrong, so it is no Error, and nobody but who made the scope catches it.
struct Stopped {};

/// While it exists, stop points on this thread ask `requested`, which may be called thousands of times a second. In
/// nested scopes the innermost is asked. It is for work whose parts are useless. Work that keeps what it has when
/// stopped (training, a search) takes a callback `stop_requested` instead.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> requested);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  friend bool StopRequested();
  std::function<bool()> requested_;
  StopScope* outer_;
};

/// Whether this thread's work is called off. False without a scope, as on the threads of a team.
bool StopRequested();

/// Throws Stopped where StopRequested(). Not for regions of threads, which must not throw.
void StopPoint();

/// fn() under a StopScope whose question the kernels of the thread hear, too (base/abandon.h). Whether it was called
/// off: what fn() has made is then of no use, nor is an error that it met on the way.
bool StopsAt(const std::function<bool()>& requested, const std::function<void()>& fn);

}  // namespace lamina
