// Consecutive steps of an executor. The first way there is computes them: the network as a whole (PreparedNetwork),
// steps recorded by the device (RecordedSteps), else step by step. Shuffled or mixed rows are gathered for each step;
// others are read in place.
#include <algorithm>
#include <cmath>

#include "lamina/backend/training_steps.h"
#include "lamina/base/team_choice.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/mixup.h"
#include "lamina/nn/stages/dense.h"

namespace lamina {

void Executor::PrepareSteps() {
  first_trained_ = static_cast<size_t>(std::ranges::find_if(stages_, &Stage::Trains) - stages_.begin());
  team_choice_ = std::make_unique<TeamChoice>();
  sample_weights_ = memory_->AllocateRows(options_.max_batch, 1);
  if (Accepts(Route::kRecorded, techniques_)) {
    recorded_ = backend_.MakeRecordedSteps();
  }
  if (options_.step.clip_norm > 0) {
    clip_parts_ = backend_.Allocate(ClipArgs::kParts * static_cast<int64_t>(sizeof(double)));
  }
  if (options_.first_sums_given) {
    whole_steps_ = Verdict::No("the first layer's sums are given");
    return;
  }
  whole_steps_ = Accepts(Route::kWholeNetwork, techniques_);
  if (!whole_steps_) {
    whole_steps_.reason += ": computed layer by layer";
    return;
  }
  PrepareWholeSteps();
}

void Executor::PrepareWholeSteps() {
  NetworkPlanRequest request;
  request.layers = specs_;
  for (size_t l = 0; l < specs_.size(); ++l) {
    request.arrays.push_back({memory_->ArraysAt(offsets_[l].weights),
                              specs_[l].bias ? memory_->ArraysAt(offsets_[l].bias) : ParameterArrays{}});
  }
  request.dtype = memory_->dtype;
  request.precision = options_.step.precision;
  request.max_batch = options_.step_batch > 0 ? options_.step_batch : options_.max_batch;
  request.loss = options_.step.loss;
  request.class_threshold = options_.step.class_threshold;
  request.label_smoothing = options_.step.label_smoothing;
  request.state_count = options_.state_count;
  network_ = backend_.PrepareNetwork(request, &whole_steps_);
}

void Executor::StepRows(const TrainingSteps& work, const UpdateRule* rule, int64_t begin, int64_t rows) noexcept {
  const ConstMatrixView weights = work.WeightColumn();
  if (work.order == nullptr && options_.step.mixup == 0) {
    Step(work.x.Rows(begin, rows), work.targets.Rows(begin, rows),
         weights.empty() ? nullptr : weights.Rows(begin, rows).data, rule, work.sums);
    return;
  }
  const auto take = [&](ConstMatrixView from, const MatrixView& to) {
    if (work.order != nullptr) {
      backend_.GatherRows(from, work.order + begin, rows, to);
    } else {
      memory_->elementwise.Repeat(from.Rows(begin, rows), 1, to);
    }
  };
  const MatrixView x = InputBatch(rows);
  const MatrixView y = TargetBatch(rows);
  take(work.x, x);
  take(work.targets, y);
  if (!weights.empty()) {
    take(weights, memory_->View(sample_weights_, rows, 1));
  }
  if (options_.step.mixup > 0) {
    const uint64_t stream = kMixupStreams + static_cast<uint64_t>(rule == nullptr ? 0 : rule->step);
    const double share = MixupShare(options_.step.mixup, options_.step.seed, stream);
    memory_->elementwise.MixRows(share, x);
    memory_->elementwise.MixRows(share, y);
    if (!weights.empty()) {
      memory_->elementwise.MixRows(share, memory_->View(sample_weights_, rows, 1));
    }
  }
  Step(x, y, weights.empty() ? nullptr : memory_->View(sample_weights_, rows, 1).data, rule, work.sums);
}

int64_t Executor::Steps(const TrainingSteps& work) {
  if (network_ != nullptr) {
    return network_->Run(work);
  }
  const int64_t steps = work.count();
  if (recorded_ != nullptr && work.order != nullptr) {
    recorded_->Run(work,
                   [&](int64_t begin, int64_t rows, const UpdateRule& rule) { StepRows(work, &rule, begin, rows); });
    folded_follows_ = false;  // repeated steps do not pass through Step()
    return steps;
  }
  int64_t done = 0;
  while (done < steps) {
    const int64_t begin = work.begin + done * work.batch;
    const UpdateRule rule = work.RuleAt(done);
    RunAsChosen(*team_choice_, [&] { StepRows(work, &rule, begin, std::min(work.batch, work.end - begin)); });
    ++done;
    LossSums sums;
    backend_.Download(&sums, work.sums, sizeof(sums));
    if (!std::isfinite(sums.loss) ||
        (done < steps && work.stop_requested != nullptr && *work.stop_requested && (*work.stop_requested)())) {
      break;
    }
  }
  return done;
}

}  // namespace lamina
