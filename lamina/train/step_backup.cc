// Copies, and whether they are worth it.
#include "lamina/train/step_backup.h"

#include "lamina/base/hardware.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

constexpr double kMostShare = 0.03;     // of a step's time
constexpr int64_t kPartOfMemory = 4;    // of what is free, at most
constexpr int64_t kAlways = 256 << 20;  // bytes: nobody is asked how much is free

}  // namespace

StepBackup::StepBackup(Executor& executor, const Backend& backend, bool copies)
    : executor_(executor), backend_(backend), copies_(copies) {}

bool StepBackup::IsCheap(double expected_seconds) const {
  if (copied_seconds_ > kMostShare * expected_seconds) {
    return false;
  }
  const int64_t bytes = executor_.parameters().size_bytes() * (1 + executor_.state_count());
  return bytes <= kAlways || parameters_.size_bytes() > 0 ||
         bytes < QueryHardware().UsableMemory_bytes() / kPartOfMemory;
}

bool StepBackup::Keep(double expected_seconds) {
  const bool is_long = expected_seconds > kShort_seconds;
  if (!copies_) {
    return is_long;
  }
  if (!is_long || !IsCheap(expected_seconds)) {
    parameters_ = {};
    states_.clear();
    return false;
  }
  const auto copy = [&](const Buffer& from, AlignedBuffer& to) {
    if (to.size_bytes() != from.size_bytes()) {
      to = AlignedBuffer(from.size_bytes());
    }
    backend_.Download(to.data(), from.data(), from.size_bytes());
  };
  const Stopwatch watch;
  copy(executor_.parameters(), parameters_);
  states_.resize(static_cast<size_t>(executor_.state_count()));
  for (int i = 0; i < executor_.state_count(); ++i) {
    copy(executor_.state(i), states_[static_cast<size_t>(i)]);
  }
  copied_seconds_ = watch.Elapsed_seconds();
  return true;
}

void StepBackup::Restore() {
  if (!copies_) {
    return;
  }
  executor_.SetTrainedParameters(parameters_);
  for (int i = 0; i < executor_.state_count(); ++i) {
    const AlignedBuffer& kept = states_[static_cast<size_t>(i)];
    backend_.Upload(executor_.state(i).data(), kept.data(), kept.size_bytes());
  }
}

}  // namespace lamina
