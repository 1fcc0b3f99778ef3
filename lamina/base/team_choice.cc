// Pieces of work in the chosen way and, between them, one in the other way.
#include "lamina/base/team_choice.h"

#include <algorithm>

namespace lamina {
namespace {

constexpr int64_t kTrialMillisecond_ns = 1'000'000;
// Work that takes longer with all threads is not tried with one: some twenty barriers of a few microseconds are a
// twentieth of it.
constexpr int64_t kWorthTrying_ns = 2 * kTrialMillisecond_ns;
// What is timed of a piece, and what comes before: threads wake, on a processor that another program has, caches fill.
constexpr int64_t kPiece_ns = 8 * kTrialMillisecond_ns;
constexpr int64_t kLeastTimes = 4;
constexpr int64_t kUntimed_ns = 5 * kTrialMillisecond_ns;
// Work between trials: doubled while they end as the last one did.
constexpr int64_t kShortestPause_ns = 50 * kTrialMillisecond_ns;
constexpr int64_t kLongestPause_ns = 1600 * kTrialMillisecond_ns;
// The way is changed where the other one was faster by more than a twentieth in so many trials one after the other.
constexpr double kGain = 1.05;
constexpr int kVotes = 2;

}  // namespace

void TeamChoice::Took(int64_t ns) {
  untimed_ns_ -= ns;
  if (untimed_ns_ > 0) {
    return;
  }
  piece_ns_ += ns;
  if (++piece_times_ < kLeastTimes || piece_ns_ < kPiece_ns) {
    return;
  }
  const double mean_ns = static_cast<double>(piece_ns_) / static_cast<double>(piece_times_);
  piece_ns_ = piece_times_ = 0;
  if (trying_) {
    trying_ = false;
    untimed_ns_ = Decide(mean_ns);
  } else if (alone_ || mean_ns < static_cast<double>(kWorthTrying_ns)) {
    chosen_mean_ns_ = mean_ns;
    trying_ = true;
    untimed_ns_ = kUntimed_ns;
  }
}

int64_t TeamChoice::Decide(double other_mean_ns) {
  if (other_mean_ns * kGain >= chosen_mean_ns_) {
    votes_ = 0;
    pause_ns_ = std::clamp(2 * pause_ns_, kShortestPause_ns, kLongestPause_ns);
  } else if (++votes_ == kVotes) {
    votes_ = 0;
    alone_ = !alone_;
    pause_ns_ = kShortestPause_ns;
  } else {
    return kUntimed_ns;
  }
  return pause_ns_;
}

}  // namespace lamina
