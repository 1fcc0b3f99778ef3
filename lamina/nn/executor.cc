// A step: stages forward, loss, stages backward, then the update. Stages compute; executor_steps.cc picks the route.
#include "lamina/nn/executor.h"

#include <algorithm>
#include <cstring>

#include "lamina/backend/training_steps.h"
#include "lamina/base/stop.h"
#include "lamina/base/team_choice.h"
#include "lamina/nn/make_stages.h"
#include "lamina/nn/stages/dense.h"
#include "lamina/nn/stages/members.h"

namespace lamina {
namespace {

void RequireLoss(const StepOptions& options, const Activation& output) {
  if (const Verdict verdict = LossAccepts(options.loss, output); !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
}

}  // namespace

Executor::Executor(const Network& network, const Backend& backend, const ExecutorOptions& options)
    : specs_(network.layers()),
      offsets_(network.offsets()),
      members_(network.members()),
      backend_(backend),
      options_(options),
      techniques_(TechniquesOf(specs_, members_, options.step)),
      table_(network, options.step, options.training),
      memory_(std::make_unique<StageMemory>(StageMemory{backend, backend.elementwise(), network.dtype()})),
      updates_apart_(!Accepts(Route::kFusedUpdate, techniques_)) {
  if (const Verdict verdict = LossSmooths(options.step.loss); options.step.label_smoothing > 0 && !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
  if (options_.training) {
    RequireLoss(options.step, specs_.back().activation);
  }
  StageMemory& memory = *memory_;
  Stages stages = MakeStages(memory, {network, table_, options_.step, options_.max_batch, options_.training,
                                      options_.any_slicing, options_.first_sums_given});
  stages_ = std::move(stages.all);
  of_layers_ = std::move(stages.of_layers);
  input_ = memory.AllocateRows(options_.max_batch, network.inputs());
  if (members_ > 1) {
    answers_ =
        std::make_unique<MemberAnswers>(memory, members_, network.outputs(), options_.max_batch, options_.training);
  }
  memory.parameters = memory.AllocateRows(1, table_.elements());
  if (std::ranges::any_of(stages_, &Stage::Folds)) {
    memory.folded = memory.AllocateRows(1, table_.network_elements());
  }
  if (options_.training) {
    target_ = memory.AllocateRows(options_.max_batch, network.outputs());
    memory.gradients = memory.AllocateRows(1, table_.elements());
    for (int i = 0; i < options_.state_count; ++i) {
      memory.states.push_back(memory.AllocateRows(1, table_.elements()));
    }
    PrepareSteps();
  }
  LoadParameters(network);
}

Executor::~Executor() = default;

MatrixView Executor::InputBatch(int64_t rows) const { return memory_->View(input_, rows, specs_.front().inputs); }
MatrixView Executor::TargetBatch(int64_t rows) const { return memory_->View(target_, rows, specs_.back().outputs); }
MatrixView Executor::FirstDelta(int64_t rows) const { return of_layers_.front()->Delta(rows); }

Buffer& Executor::parameters() { return *memory_->parameters; }
Buffer& Executor::gradients() { return *memory_->gradients; }
Buffer& Executor::state(int i) { return *memory_->states[static_cast<size_t>(i)]; }
const Buffer& Executor::parameters() const { return *memory_->parameters; }
const Buffer& Executor::state(int i) const { return *memory_->states[static_cast<size_t>(i)]; }

ConstMatrixView Executor::InputOf(size_t s, ConstMatrixView x) const {
  return s == 0 ? x : stages_[s - 1]->Output(RowsOf(x));
}

ConstMatrixView Executor::Through(ConstMatrixView x, const int64_t* step) noexcept {
  for (const std::unique_ptr<Stage>& stage : stages_) {
    x = stage->Forward(x, step);
  }
  return x;
}

ConstMatrixView Executor::Forward(ConstMatrixView x) noexcept {
  FoldAnswers();
  const ConstMatrixView all = Through(x, nullptr);
  return answers_ == nullptr ? all : answers_->Mean(all);
}

LossArgs Executor::LossArgsFor(ConstMatrixView answers, ConstMatrixView targets, const void* sample_weights,
                               LossSums* sums) const {
  const StageSlope slope = stages_.back()->Slope(RowsOf(answers));
  LossArgs args;
  args.loss = options_.step.loss;
  args.activation = slope.activation;
  args.a = answers;
  args.z = answers_ == nullptr ? slope.z : ConstMatrixView{};  // a mean has no z
  args.targets = targets;
  args.sample_weights = sample_weights;
  args.class_threshold = options_.step.class_threshold;
  args.sums = sums;
  return args;
}

void Executor::Evaluate(ConstMatrixView x, ConstMatrixView targets, const void* sample_weights,
                        LossSums* sums) noexcept {
  backend_.ComputeLoss(LossArgsFor(Forward(x), targets, sample_weights, sums));
}

void Executor::Step(ConstMatrixView x, ConstMatrixView targets, const void* sample_weights, const UpdateRule* rule,
                    LossSums* sums) noexcept {
  const int64_t step = rule == nullptr ? 0 : rule->step;
  folded_follows_ = false;
  const ConstMatrixView all = Through(x, &step);
  LossArgs args = LossArgsFor(answers_ == nullptr ? all : answers_->Mean(all), targets, sample_weights, sums);
  if (answers_ != nullptr) {
    backend_.ComputeLoss(args);  // of the mean, which is what the network answers
    args = answers_->ForAll(args);
    args.a = all;
    args.z = stages_.back()->Slope(all.rows).z;
  }
  args.delta = stages_.back()->Delta(all.rows);
  args.label_smoothing = options_.step.label_smoothing;
  backend_.ComputeLoss(args);
  const bool apart = rule != nullptr && updates_apart_;
  Backward(x, apart ? nullptr : rule);
  if (apart) {
    Update(*rule);
  }
}

// Nobody asks for the delta of a stage below which nothing is trained.
void Executor::Backward(ConstMatrixView x, const UpdateRule* rule) noexcept {
  for (size_t s = stages_.size(); s-- > first_trained_;) {
    stages_[s]->Backward({InputOf(s, x), s > first_trained_ ? stages_[s - 1].get() : nullptr, rule, deltas_only_});
  }
}

void Executor::Predict(ConstMatrixView x, MatrixView out) {
  const int64_t element = DTypeSize_bytes(memory_->dtype);
  for (int64_t begin = 0; begin < x.rows; begin += options_.max_batch) {
    const int64_t rows = std::min(options_.max_batch, x.rows - begin);
    const MatrixView batch = InputBatch(rows);
    const int64_t together = x.stride == batch.stride ? rows : 1;  // rows of one copy
    for (int64_t i = 0; i < rows; i += together) {
      backend_.Upload(batch.Rows(i, together).data, x.Rows(begin + i, together).data, together * x.cols * element);
    }
    const ConstMatrixView y = Forward(batch);
    const int64_t out_together = out.stride == y.stride ? rows : 1;
    for (int64_t i = 0; i < rows; i += out_together) {
      backend_.Download(out.Rows(begin + i, out_together).data, y.Rows(i, out_together).data,
                        out_together * y.cols * element);
    }
    StopPoint();
  }
}

void Executor::ParametersChanged() noexcept {
  folded_follows_ = false;
  for (const std::unique_ptr<Stage>& stage : stages_) {
    stage->ParametersChanged();
  }
}

// What answers, where that is not what is trained.
void Executor::FoldAnswers() const noexcept {
  if (memory_->folded == nullptr || folded_follows_) {
    return;
  }
  const int64_t count = table_.network_elements();
  memory_->elementwise.Repeat(memory_->MatrixAt(*memory_->parameters, 0, 1, count), 1,
                              memory_->MatrixAt(*memory_->folded, 0, 1, count));
  for (const std::unique_ptr<Stage>& stage : stages_) {
    stage->FoldAnswers();
  }
  folded_follows_ = true;
}

void Executor::LoadParameters(const Network& network) {
  backend_.Upload(memory_->parameters->data(), network.parameters(), network.parameter_bytes());
  for (const ParameterBlock& block : table_.blocks()) {
    if (block.offset >= table_.network_elements()) {
      memory_->elementwise.Fill(memory_->MatrixAt(*memory_->parameters, block.offset, 1, block.count), block.start);
    }
  }
  ParametersChanged();
}

void Executor::StoreParameters(Network& network) const {
  const AlignedBuffer folded = FoldedParameters();
  std::memcpy(network.parameters(), folded.data(), static_cast<size_t>(folded.size_bytes()));
}

AlignedBuffer Executor::FoldedParameters() const {
  FoldAnswers();
  AlignedBuffer folded(table_.network_elements() * DTypeSize_bytes(memory_->dtype));
  backend_.Download(folded.data(), memory_->ParametersFor(/*step=*/false).data(), folded.size_bytes());
  return folded;
}

AlignedBuffer Executor::TrainedParameters() const {
  AlignedBuffer trained(memory_->parameters->size_bytes());
  backend_.Download(trained.data(), memory_->parameters->data(), trained.size_bytes());
  return trained;
}

void Executor::SetTrainedParameters(const AlignedBuffer& trained) {
  backend_.Upload(memory_->parameters->data(), trained.data(), trained.size_bytes());
  ParametersChanged();
}

// The gaps between the arrays of gradients are zero.
void Executor::Update(const UpdateRule& rule) noexcept {
  for (const std::unique_ptr<Stage>& stage : stages_) {
    stage->FinishGradients();
  }
  if (options_.step.clip_norm > 0) {
    backend_.ClipGradient({memory_->gradients->data(), table_.elements(), memory_->dtype, options_.step.clip_norm,
                           static_cast<double*>(clip_parts_->data())});
  }
  for (const ParameterBlock& block : table_.blocks()) {
    if (block.updated) {
      UpdateRule at_rate = rule;
      at_rate.learning_rate *= block.rate;
      UpdateArgs args;
      args.arrays = memory_->ArraysAt(block.offset);
      args.count = block.count;
      args.dtype = memory_->dtype;
      args.rule = &at_rate;
      args.decay = block.decays;
      args.smallest = block.smallest;
      backend_.Update(args);
    }
  }
  ParametersChanged();
}

std::vector<std::string> Executor::Describe() const {
  std::vector<std::string> lines;
  for (const std::unique_ptr<Stage>& stage : stages_) {
    if (std::string line = stage->Describe(); !line.empty()) {
      lines.push_back(std::move(line));
    }
  }
  if (network_ != nullptr) {
    lines.push_back("training steps: " + network_->Describe());
  }
  return lines;
}

}  // namespace lamina
