// Whether work that is done again and again is faster with all threads or with one, found out while it is done:
// docs/decisions/0003-spinning-threads.md.
#pragma once

#include <cstdint>

#include "lamina/platform/thread.h"

namespace lamina {

/// Chooses between all threads and one for work of one kind, such as training steps, by the time it took lately. Now
/// and then the other way is tried for some milliseconds; where it is faster twice running, it is used from then on.
/// Work so long that waiting for threads cannot dominate always uses all. Results must not depend on the size of a
/// team. One caller at a time.
class TeamChoice {
 public:
  /// Whether the next time is to be done by the calling thread alone.
  bool alone() const { return alone_ != trying_; }
  /// Tells that the last time, done as alone() said, took so long.
  void Took(int64_t ns);

 private:
  // After a trial in which a time took so long: the time until the next piece of work that is timed.
  int64_t Decide(double other_mean_ns);

  bool alone_ = false;  // the way that is chosen
  bool trying_ = false;
  int64_t untimed_ns_ = 2'000'000;  // of work before the piece that is timed; the first times find caches cold
  int64_t piece_ns_ = 0;
  int64_t piece_times_ = 0;
  double chosen_mean_ns_ = 0;  // in the piece before the trial
  int votes_ = 0;
  int64_t pause_ns_ = 0;  // between the last two trials
};

/// While this is there, the calling thread's teams are itself alone (if `alone`).
class AloneScope {
 public:
  explicit AloneScope(bool alone);
  ~AloneScope();
  AloneScope(const AloneScope&) = delete;
  AloneScope& operator=(const AloneScope&) = delete;

 private:
  bool before_;
};

/// Does work() as `choice` says, and tells it how long that took.
template <class Fn>
void RunAsChosen(TeamChoice& choice, const Fn& work) {
  const int64_t start = platform::SteadyTime_ns();
  {
    const AloneScope scope(choice.alone());
    work();
  }
  choice.Took(platform::SteadyTime_ns() - start);
}

/// How often threads of the calling thread's team have waited: a wait that spins first may sleep then, too.
struct TeamWaits {
  int64_t spun = 0;
  int64_t slept = 0;
};
TeamWaits WaitsOfTeam();

}  // namespace lamina
