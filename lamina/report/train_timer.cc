// Rounds of training steps.
#include "lamina/report/train_timer.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"
#include "lamina/nn/network.h"

namespace lamina {

TrainTimer::TrainTimer(const TrainBenchmarkCase& work, const Dataset& data)
    : batch_(std::min(work.batch, data.size())),
      backend_(MakeBackend(work.backend, {.threads = work.threads})),
      data_(data, *backend_) {
  std::vector<LayerSpec> layers;
  for (size_t l = 0; l + 1 < work.shape.size(); ++l) {
    layers.push_back({work.shape[l], work.shape[l + 1], Synapse::kDot, work.activation, true});
  }
  Network network(layers, work.dtype);
  network.Initialize(Initialization::kGlorotUniform, 1);
  rule_.learning_rate = 0.05;
  rule_.momentum = work.momentum;
  ExecutorOptions plan;
  plan.max_batch = batch_;
  plan.training = true;
  plan.state_count = rule_.StateCount();
  executor_ = std::make_unique<Executor>(network, *backend_, plan);
  std::vector<int64_t> order(static_cast<size_t>(data.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random(4).Shuffle(std::span(order));
  const auto order_bytes = data.size() * static_cast<int64_t>(sizeof(int64_t));
  order_ = backend_->Allocate(order_bytes);
  backend_->Upload(order_->data(), order.data(), order_bytes);
  sums_ = backend_->Allocate(sizeof(LossSums));
}

void TrainTimer::Step() {
  if (at_ + batch_ > data_.rows()) {
    at_ = 0;
  }
  const int64_t* rows = static_cast<const int64_t*>(order_->data()) + at_;
  const MatrixView x = executor_->InputBatch(batch_);
  const MatrixView y = executor_->TargetBatch(batch_);
  backend_->GatherRows(data_.features(), rows, batch_, x);
  backend_->GatherRows(data_.targets(), rows, batch_, y);
  executor_->Step(x, y, nullptr, &rule_, static_cast<LossSums*>(sums_->data()));
  at_ += batch_;
}

void TrainTimer::Round(double seconds) {
  LossSums sums;
  if (row_seconds_.empty()) {
    Step();  // first touch of all buffers
    backend_->Download(&sums, sums_->data(), sizeof sums);
  }
  const Stopwatch watch;
  int64_t steps = 0;
  while (steps == 0 || watch.Elapsed_seconds() < seconds) {
    Step();
    ++steps;
  }
  backend_->Download(&sums, sums_->data(), sizeof sums);  // waits for a device
  row_seconds_.push_back(watch.Elapsed_seconds() / static_cast<double>(steps * batch_));
  steps_ = steps_ == 0 ? steps : std::min(steps_, steps);
}

double TrainTimer::MedianSeconds(int64_t rows) const {
  std::vector<double> sorted = row_seconds_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2] * static_cast<double>(rows);
}

}  // namespace lamina
