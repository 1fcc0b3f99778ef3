// One training run, an epoch after another. An epoch orders the rows and takes steps in chunks; validation follows,
// then what is kept. End() changes the owner's network. Sums of a step are left to the executor,
// shards and L-BFGS to their classes, rows to DataFeed. The Trainer decides when to stop.
#include "lamina/train/train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "lamina/base/abandon.h"
#include "lamina/base/nan.h"
#include "lamina/train/divergence.h"
#include "lamina/train/monitored.h"

namespace lamina {
namespace {

constexpr double kProgressInterval_seconds = 0.1;
constexpr double kChunk_seconds = 0.02;  // of steps that run without a look at progress

// Sparse rows are made dense for it: no more at once than for a step.
int64_t EvaluationRows(const Dataset* validation) {
  constexpr int64_t kMost = 512;
  return validation == nullptr || validation->sparse != nullptr ? 0 : std::min(kMost, validation->size());
}

ShardOptions ShardingOf(const TrainOptions& options) {
  return {options.shards, options.gradients_as_bf16 ? SentAs::kBFloat16 : SentAs::kItself, options.sharded_rows > 0};
}

}  // namespace

TrainRun::TrainRun(Network& network_in, const Backend& backend_in, const TrainOptions& options_in,
                   Communicator* ranks_in, TrainState& state_in, const Dataset& train_set,
                   const Dataset* validation_set, const TrainCallbacks& callbacks_in)
    : network(network_in),
      backend(backend_in),
      options(options_in),
      ranks(ranks_in),
      state(state_in),
      callbacks(callbacks_in),
      rows(options, train_set.size(), ranks),
      batch(rows.batch()),
      steps(rows.steps()),
      keeps_best(options.KeepsBest(validation_set != nullptr)),
      step_rows(options.shards > 0 ? ShardedSteps::SamplesOfShard(batch, options.shards) : batch),
      evaluation_batch(std::max(step_rows, EvaluationRows(validation_set))),
      executor(network, backend, PlanFor()),
      sharded(options.shards == 0 ? nullptr
                                  : std::make_unique<ShardedSteps>(executor, backend, network.dtype(),
                                                                   ShardingOf(options), batch, ranks)),
      lbfgs(options.lbfgs ? std::make_unique<Lbfgs>(executor, backend, network, options.rule.weight_decay) : nullptr),
      device_sums(backend.Allocate(sizeof(LossSums))),
      train(train_set, backend, rows.own_batch(), rows.own_window()),
      validation(validation_set == nullptr
                     ? nullptr
                     : std::make_unique<DataFeed>(*validation_set, backend, evaluation_batch, WindowOfValidation())),
      backup(executor, backend, /*copies=*/lbfgs == nullptr) {
  if (callbacks.stop_requested) {
    stop = [this] {
      const Stopwatch watch;
      const bool stopped = callbacks.stop_requested();
      waited_seconds += watch.Elapsed_seconds();
      return stopped;
    };
  }
}

ExecutorOptions TrainRun::PlanFor() const {
  ExecutorOptions plan;
  plan.max_batch = evaluation_batch;
  plan.training = true;
  plan.step = options.step;
  plan.state_count = options.lbfgs ? 0 : options.rule.StateCount();
  plan.step_batch = step_rows;
  return plan;
}

// Rows in files are evaluated in order, and need no more than to be there before they are asked for.
int64_t TrainRun::WindowOfValidation() const {
  constexpr int64_t kBatches = 8;
  return options.window_rows == 0 ? 0 : kBatches * evaluation_batch;
}
void TrainRun::SaveCheckpoint() const {
  if (callbacks.checkpoint) {
    TrainState snapshot = Snapshot();
    RequireFinite(snapshot.parameters);
    callbacks.checkpoint(std::move(snapshot));
  }
}

void TrainRun::Resume() {
  // A run that was stopped while it validated has all steps of its epoch behind it.
  if (state.step > steps || state.sums.samples != std::min(state.step * batch, rows.rows())) {
    throw Error(
        ErrorCode::kBadModel,
        fmt::format("the saved training state (step {} of an epoch, after {} samples) is of another --batch or other "
                    "data; here it is {}",
                    state.step, state.sums.samples, batch),
        {.remedy = "Resume with the data and the --batch it was written with; another one may begin with an epoch.",
         .setting = "batch"});
  }
  executor.SetTrainedParameters(state.parameters);
  for (int i = 0; i < executor.state_count(); ++i) {
    const AlignedBuffer& saved = state.optimiser[static_cast<size_t>(i)];
    backend.Upload(executor.state(i).data(), saved.data(), saved.size_bytes());
  }
  if (lbfgs != nullptr) {
    lbfgs->SetState(state.optimiser);
  }
}

// The rate of a step of this epoch, where it is another at every step.
double TrainRun::StepRate(int64_t step, double epoch_rate) const {
  const auto all = static_cast<double>(options.epochs * steps);
  return StepRateAt(options.schedule, options.rule.learning_rate, epoch_rate,
                    (static_cast<double>(state.epoch * steps + step) + 0.5) / all);
}

// Steps that are called off in the middle were not done.
int64_t TrainRun::RunSteps(const TrainingSteps& work) {
  std::optional<AbandonScope> scope;
  LossSums before;
  const bool asks = callbacks.abandon_requested && ranks == nullptr && backend.space() == Space::kHost;
  if (asks && backup.Keep(step_seconds)) {
    before = ReadSums();
    scope.emplace(callbacks.abandon_requested);
  }
  const int64_t done = sharded != nullptr ? sharded->Steps(work)
                       : lbfgs != nullptr ? lbfgs->Step(work, state.updates)
                                          : executor.Steps(work);
  if (scope && scope->told()) {
    backup.Restore();
    WriteSums(before);
    return 0;
  }
  return done;
}

bool TrainRun::RunChunk(UpdateRule rule) {
  TrainingSteps work;
  rows.Load(state.step, chunk, train, work);
  work.batch = batch;
  rule.step = state.updates + 1;
  work.rule = rule;
  if (ChangesBySteps(options.schedule)) {
    rates.clear();
    for (int64_t step = state.step; std::ssize(rates) < work.count(); ++step) {
      rates.push_back(StepRate(step, rule.learning_rate));
    }
    work.rates = rates.data();
  }
  work.sums = SumsPointer();
  work.stop_requested = &stop;
  const double waited_before = waited_seconds;
  const Stopwatch watch;
  const int64_t asked = work.count();
  const int64_t done = RunSteps(work);
  const double seconds = watch.Elapsed_seconds() - (waited_seconds - waited_before);
  step_seconds = seconds / static_cast<double>(std::max<int64_t>(1, done));
  if (sharded != nullptr) {  // step after step: ranks must not count by their own clocks
  } else if (seconds < kChunk_seconds / 2 && asked == chunk) {
    chunk *= 2;
  } else if (seconds > kChunk_seconds) {
    chunk = std::max<int64_t>(1, chunk / 2);
  }
  state.updates += done;
  state.step += done;
  return done < asked;
}

void TrainRun::ThrowDiverged(double value, const char* which) const {
  const bool between = state.step == 0;  // two epochs
  lamina::ThrowDiverged(which, value, {between ? state.epoch : state.epoch + 1, between ? steps : state.step, steps},
                        options.rule);
}

// The loss of a step is that of the weights before it, so the last step's damage shows in the weights only.
void TrainRun::RequireFinite(const AlignedBuffer& parameters) const {
  if (const std::optional<double> value = FirstNotFinite(parameters, network.dtype())) {
    ThrowDiverged(*value, "a weight");
  }
}

void TrainRun::End() {
  if (callbacks.ended && state.history.stop_reason != "interrupted") {
    callbacks.ended(Snapshot());
  }
  StoreKept();
}

// Only now does the owner's network change.
void TrainRun::StoreKept() {
  const bool best = keeps_best && state.best_parameters.size_bytes() > 0;
  const AlignedBuffer kept = best ? state.best_parameters : executor.FoldedParameters();
  RequireFinite(kept);
  std::memcpy(network.parameters(), kept.data(), static_cast<size_t>(kept.size_bytes()));
}

void TrainRun::ReportProgress() {
  const bool any = state.step > 0;  // not where the first step was called off
  if (!callbacks.progress || !any ||
      (since_progress.Elapsed_seconds() < kProgressInterval_seconds && state.step != steps)) {
    return;
  }
  since_progress.Restart();
  callbacks.progress(ProgressOf(state, options, ReadSums(), steps, rows.rows()));
}

bool TrainRun::TrainEpoch() {
  rows.SetOrder(state.epoch, train);
  UpdateRule rule = options.rule;
  rule.learning_rate =
      LearningRateAt(options.schedule, options.rule.learning_rate, state.epoch, options.epochs, state.reductions);
  WriteSums(state.sums);
  const double seconds_before = state.epoch_seconds;
  waited_seconds = 0;
  const Stopwatch watch;
  while (state.step < steps) {
    if (ranks != nullptr) {
      ranks->SetPlace(state.epoch + 1, state.step + 1);
    }
    const bool stopped = RunChunk(rule);
    if (const double loss = ReadSums().loss; !std::isfinite(loss)) {
      ThrowDiverged(loss, "the loss");
    }
    state.epoch_seconds = seconds_before + watch.Elapsed_seconds() - waited_seconds;
    ReportProgress();
    if (state.step < steps && (stopped || Stopped())) {
      state.sums = ReadSums();
      return false;
    }
  }
  state.sums = ReadSums();
  return true;
}

// What is stopped while it validates has all steps of the epoch behind it.
std::optional<EpochRecord> TrainRun::RunEpoch() {
  if (!TrainEpoch()) {
    return std::nullopt;
  }
  EpochRecord record = TrainRecord();
  return Validate(record) ? std::optional(record) : std::nullopt;
}

EpochRecord TrainRun::TrainRecord() const {
  EpochRecord record;
  record.epoch = state.epoch + 1;
  record.learning_rate =
      LearningRateAt(options.schedule, options.rule.learning_rate, state.epoch, options.epochs, state.reductions);
  if (ChangesBySteps(options.schedule)) {
    record.learning_rate = StepRate(steps - 1, record.learning_rate);
  }
  record.train_loss = state.sums.loss / state.sums.weight;
  record.train_accuracy = train.is_classification()
                              ? static_cast<double>(state.sums.correct) / static_cast<double>(state.sums.samples)
                              : kNaN;
  record.train_seconds = state.epoch_seconds;
  record.samples_per_second = static_cast<double>(state.sums.samples) / state.epoch_seconds;
  return record;
}

bool TrainRun::Validate(EpochRecord& record) {
  record.validation_loss = record.validation_accuracy = record.monitored = kNaN;
  if (validation == nullptr) {
    return true;
  }
  const AbandonScope scope(ranks == nullptr ? callbacks.abandon_requested : nullptr);
  const Stopwatch watch;
  const auto evaluate = [&](int64_t begin) {
    TrainingSteps rows;
    validation->Load(begin, std::min(validation->rows(), begin + evaluation_batch), rows);
    const int64_t count = rows.end - rows.begin;
    const ConstMatrixView weights = rows.WeightColumn();
    executor.Evaluate(rows.x.Rows(rows.begin, count), rows.targets.Rows(rows.begin, count),
                      weights.empty() ? nullptr : weights.Rows(rows.begin, 1).data, SumsPointer());
    return begin + count;
  };
  WriteSums({});
  LossSums sums;
  if (sharded != nullptr) {
    sums = sharded->SumOver((validation->rows() + evaluation_batch - 1) / evaluation_batch, [&](int64_t i) {
      WriteSums({});
      evaluate(i * evaluation_batch);
      return ReadSums();
    });
  } else {
    for (int64_t begin = 0; begin < validation->rows() && !Abandoned();) {
      begin = evaluate(begin);
    }
    sums = ReadSums();
  }
  if (scope.told()) {
    return false;
  }
  record.validation_loss = sums.loss / sums.weight;
  if (validation->is_classification()) {
    record.validation_accuracy = static_cast<double>(sums.correct) / static_cast<double>(sums.samples);
  }
  record.validation_seconds = watch.Elapsed_seconds();
  if (!std::isfinite(record.validation_loss)) {
    ThrowDiverged(record.validation_loss, "the validation loss");
  }
  record.monitored = Monitored(options, executor, validation->dataset());
  return !scope.told();
}

void TrainRun::FinishEpoch(EpochRecord& record) {
  ++state.epoch;
  const double watched = WatchedOf(options, record);
  ++state.epochs_since_best;
  ++state.epochs_since_reduction;
  if (state.history.best_epoch == 0 || options.IsBetter(state.epoch, watched, state.best_loss)) {
    state.best_loss = watched;
    state.history.best_epoch = state.epoch;
    state.epochs_since_best = 0;
    state.epochs_since_reduction = 0;
    if (keeps_best) {
      state.best_parameters = executor.FoldedParameters();
    }
  }
  if (options.schedule.kind == ScheduleKind::kPlateau && state.epochs_since_reduction >= options.schedule.patience) {
    ++state.reductions;
    state.epochs_since_reduction = 0;
  }
  record.best_epoch = state.history.best_epoch;
  state.history.epochs.push_back(record);
  state.step = 0;
  state.sums = {};
  state.epoch_seconds = 0;
}

TrainState TrainRun::Snapshot() const {
  TrainState copy = state;
  copy.parameters = executor.TrainedParameters();
  if (copy.parameters.size_bytes() > network.parameter_bytes()) {
    copy.answering_parameters = executor.FoldedParameters();
  }
  copy.optimiser.clear();
  if (lbfgs != nullptr) {
    copy.optimiser = lbfgs->state();
  }
  for (int i = 0; i < executor.state_count(); ++i) {
    const Buffer& array = executor.state(i);
    AlignedBuffer& saved = copy.optimiser.emplace_back(array.size_bytes());
    backend.Download(saved.data(), array.data(), array.size_bytes());
  }
  return copy;
}

}  // namespace lamina
