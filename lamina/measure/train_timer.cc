// Rounds of training steps.
#include "lamina/measure/train_timer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "lamina/backend/backends.h"
#include "lamina/backend/training_steps.h"
#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

constexpr double kTimedRate = 1e-4;      // no activation diverges on random numbers; the speed does not depend on it
constexpr double kChunk_seconds = 0.01;  // as the trainer: steps that take less are handed over twice as many at once

}  // namespace

TrainTimer::TrainTimer(const TrainBenchmarkCase& work, const Dataset& data)
    : work_(work),
      epoch_steps_(WholeSteps(work, data.size())),
      backend_(work.MakeBackend()),
      data_(data, *backend_),
      executor_(work.MakeNetwork(work.dtype), *backend_, work.Plan()) {
  std::vector<int64_t> order(static_cast<size_t>(data.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random(4).Shuffle(std::span(order));
  const auto order_bytes = data.size() * static_cast<int64_t>(sizeof(int64_t));
  order_ = backend_->Allocate(order_bytes);
  backend_->Upload(order_->data(), order.data(), order_bytes);
  sums_ = backend_->Allocate(sizeof(LossSums));
}

void TrainTimer::Step(int64_t count) {
  at_ = at_ + count > epoch_steps_ ? 0 : at_;
  TrainingSteps run;
  run.x = data_.features();
  run.targets = data_.targets();
  run.order = static_cast<const int64_t*>(order_->data());
  run.begin = at_ * work_.batch;
  run.end = run.begin + count * work_.batch;
  run.batch = work_.batch;
  run.rule = work_.Rule(kTimedRate);
  run.sums = static_cast<LossSums*>(sums_->data());
  at_ += count;
  const int64_t done = executor_.Steps(run);
  LossSums sums;
  backend_->Download(&sums, sums_->data(), sizeof sums);  // waits for a device
  if (done != count || !std::isfinite(sums.loss)) {
    throw Error(ErrorCode::kDiverged, "the benchmark's training diverged", {.value = work_.ShapeText()});
  }
}

double TrainTimer::Round(double seconds) {
  if (row_seconds_.empty()) {
    Step(1);  // first touch of all buffers
  }
  const Stopwatch watch;
  int64_t steps = 0;
  double before = 0;
  while (steps == 0 || watch.Elapsed_seconds() < seconds) {
    Step(chunk_);
    steps += chunk_;
    const double now = watch.Elapsed_seconds();
    chunk_ = now - before < kChunk_seconds ? std::min(2 * chunk_, epoch_steps_) : chunk_;
    before = now;
  }
  row_seconds_.push_back(watch.Elapsed_seconds() / static_cast<double>(steps * work_.batch));
  least_steps_ = least_steps_ == 0 ? steps : std::min(least_steps_, steps);
  return row_seconds_.back();
}

double TrainTimer::Seconds(int64_t rows, double quantile) const {
  std::vector<double> sorted = row_seconds_;
  std::sort(sorted.begin(), sorted.end());
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::ceil(quantile * last))] * static_cast<double>(rows);
}

}  // namespace lamina
