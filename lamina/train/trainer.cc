// The training loop.
#include "lamina/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "lamina/base/check.h"
#include "lamina/base/nan.h"
#include "lamina/base/timing.h"
#include "lamina/cluster/sharded_steps.h"
#include "lamina/train/data_feed.h"
#include "lamina/train/divergence.h"
#include "lamina/train/epoch_rows.h"
#include "lamina/train/lbfgs.h"
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

// One run of the loop: the data where the backend can reach it, the planned network, the running state.
struct Trainer::Run_ {
  Run_(Trainer& trainer, const Dataset& train_set, const Dataset* validation_set, const TrainCallbacks& callbacks_in)
      : owner(trainer),
        options(trainer.options_),
        state(trainer.state_),
        callbacks(callbacks_in),
        rows(options, train_set.size(), trainer.ranks_),
        batch(rows.batch()),
        steps(rows.steps()),
        keeps_best(options.KeepsBest(validation_set != nullptr)),
        step_rows(options.shards > 0 ? ShardedSteps::SamplesOfShard(batch, options.shards) : batch),
        evaluation_batch(std::max(step_rows, EvaluationRows(validation_set))),
        executor(trainer.network_, trainer.backend_, PlanFor()),
        sharded(options.shards == 0
                    ? nullptr
                    : std::make_unique<ShardedSteps>(executor, trainer.backend_, trainer.network_.dtype(),
                                                     ShardingOf(options), batch, trainer.ranks_)),
        lbfgs(options.lbfgs
                  ? std::make_unique<Lbfgs>(executor, trainer.backend_, trainer.network_, options.rule.weight_decay)
                  : nullptr),
        device_sums(trainer.backend_.Allocate(sizeof(LossSums))),
        train(train_set, trainer.backend_, rows.own_batch(), rows.own_window()),
        validation(validation_set == nullptr ? nullptr
                                             : std::make_unique<DataFeed>(*validation_set, trainer.backend_,
                                                                          evaluation_batch, WindowOfValidation())) {
    if (callbacks.stop_requested) {
      stop = [this] {
        const Stopwatch watch;
        const bool stopped = callbacks.stop_requested();
        waited_seconds += watch.Elapsed_seconds();
        return stopped;
      };
    }
  }

  ExecutorOptions PlanFor() const {
    ExecutorOptions plan;
    plan.max_batch = evaluation_batch;
    plan.training = true;
    plan.step = options.step;
    plan.state_count = options.lbfgs ? 0 : options.rule.StateCount();
    plan.step_batch = step_rows;
    return plan;
  }

  // Of rows in files: that are evaluated in order, and need no more than to be there before they are asked for.
  int64_t WindowOfValidation() const {
    constexpr int64_t kBatches = 8;
    return options.window_rows == 0 ? 0 : kBatches * evaluation_batch;
  }
  void Start();
  /// False when stopped in the middle.
  bool TrainEpoch();
  /// Runs some of the steps left, and fits `chunk`, their number, to kChunk_seconds. True if it ended early.
  bool RunChunk(UpdateRule rule);
  EpochRecord TrainRecord() const;
  void Validate(EpochRecord& record);
  void FinishEpoch(EpochRecord& record);
  [[noreturn]] void ThrowDiverged(double value, const char* which) const;
  void RequireFinite(const AlignedBuffer& parameters) const;
  void StoreKept();
  void ReportProgress();
  // One answer for all ranks.
  bool Stopped() {
    const bool asked = stop && stop();
    return sharded != nullptr ? sharded->Any(asked) : asked;
  }
  TrainState Snapshot() const;
  void SaveCheckpoint() const {
    if (callbacks.checkpoint) {
      TrainState snapshot = Snapshot();
      RequireFinite(snapshot.parameters);
      callbacks.checkpoint(std::move(snapshot));
    }
  }
  void WriteSums(const LossSums& sums) { owner.backend_.Upload(device_sums->data(), &sums, sizeof(sums)); }
  LossSums ReadSums() const {
    LossSums sums;
    owner.backend_.Download(&sums, device_sums->data(), sizeof(sums));
    return sums;
  }
  LossSums* SumsPointer() const { return static_cast<LossSums*>(device_sums->data()); }

  Trainer& owner;
  const TrainOptions& options;
  TrainState& state;
  const TrainCallbacks& callbacks;
  EpochRows rows;
  int64_t batch;
  int64_t steps;
  bool keeps_best;
  int64_t step_rows;  // that are computed at once
  int64_t evaluation_batch;
  Executor executor;
  std::unique_ptr<ShardedSteps> sharded;  // null: a batch is one piece
  std::unique_ptr<Lbfgs> lbfgs;           // null: steps by the update rule
  std::unique_ptr<Buffer> device_sums;
  DataFeed train;  // takes what memory the network leaves
  std::unique_ptr<DataFeed> validation;
  std::vector<double> rates;  // of the steps handed over last, where they differ
  int64_t chunk = 1;          // steps handed over at once
  Stopwatch since_progress;
  std::function<bool()> stop;  // callbacks.stop_requested, timed; empty where that is
  double waited_seconds = 0;   // for its answers in this epoch
};

void Trainer::Run_::Start() {
  if (!owner.resumed_) {
    return;
  }
  if (state.step >= steps || state.sums.samples != state.step * batch) {
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
    owner.backend_.Upload(executor.state(i).data(), saved.data(), saved.size_bytes());
  }
  if (lbfgs != nullptr) {
    lbfgs->SetState(state.optimiser);
  }
}

bool Trainer::Run_::RunChunk(UpdateRule rule) {
  TrainingSteps work;
  rows.Load(state.step, chunk, train, work);
  work.batch = batch;
  rule.step = state.updates + 1;
  work.rule = rule;
  if (ChangesBySteps(options.schedule)) {
    rates.clear();
    const auto all = static_cast<double>(options.epochs * steps);
    for (int64_t step = state.epoch * steps + state.step; std::ssize(rates) < work.count(); ++step) {
      rates.push_back(StepRateAt(options.schedule, options.rule.learning_rate, rule.learning_rate,
                                 (static_cast<double>(step) + 0.5) / all));
    }
    work.rates = rates.data();
  }
  work.sums = SumsPointer();
  work.stop_requested = &stop;
  const double waited_before = waited_seconds;
  const Stopwatch watch;
  const int64_t asked = work.count();
  const int64_t done = sharded != nullptr ? sharded->Steps(work)
                       : lbfgs != nullptr ? lbfgs->Step(work, state.updates)
                                          : executor.Steps(work);
  const double seconds = watch.Elapsed_seconds() - (waited_seconds - waited_before);
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

void Trainer::Run_::ThrowDiverged(double value, const char* which) const {
  const bool between = state.step == 0;  // two epochs
  lamina::ThrowDiverged(which, value, {between ? state.epoch : state.epoch + 1, between ? steps : state.step, steps},
                        options.rule);
}

// The loss of a step is that of the weights before it, so the last step's damage shows in the weights only.
void Trainer::Run_::RequireFinite(const AlignedBuffer& parameters) const {
  if (const std::optional<double> value = FirstNotFinite(parameters, owner.network_.dtype())) {
    ThrowDiverged(*value, "a weight");
  }
}

// Only now does the owner's network change.
void Trainer::Run_::StoreKept() {
  const bool best = keeps_best && state.best_parameters.size_bytes() > 0;
  const AlignedBuffer kept = best ? state.best_parameters : executor.FoldedParameters();
  RequireFinite(kept);
  std::memcpy(owner.network_.parameters(), kept.data(), static_cast<size_t>(kept.size_bytes()));
}

void Trainer::Run_::ReportProgress() {
  if (!callbacks.progress || (since_progress.Elapsed_seconds() < kProgressInterval_seconds && state.step != steps)) {
    return;
  }
  since_progress.Restart();
  callbacks.progress(ProgressOf(state, options, ReadSums(), steps, rows.rows()));
}

bool Trainer::Run_::TrainEpoch() {
  rows.SetOrder(state.epoch, train);
  UpdateRule rule = options.rule;
  rule.learning_rate =
      LearningRateAt(options.schedule, options.rule.learning_rate, state.epoch, options.epochs, state.reductions);
  WriteSums(state.sums);
  const double seconds_before = state.epoch_seconds;
  waited_seconds = 0;
  const Stopwatch watch;
  while (state.step < steps) {
    if (owner.ranks_ != nullptr) {
      owner.ranks_->SetPlace(state.epoch + 1, state.step + 1);
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

EpochRecord Trainer::Run_::TrainRecord() const {
  EpochRecord record;
  record.epoch = state.epoch + 1;
  record.learning_rate =
      LearningRateAt(options.schedule, options.rule.learning_rate, state.epoch, options.epochs, state.reductions);
  if (!rates.empty()) {
    record.learning_rate = rates.back();
  }
  record.train_loss = state.sums.loss / state.sums.weight;
  record.train_accuracy = train.is_classification()
                              ? static_cast<double>(state.sums.correct) / static_cast<double>(state.sums.samples)
                              : kNaN;
  record.train_seconds = state.epoch_seconds;
  record.samples_per_second = static_cast<double>(state.sums.samples) / state.epoch_seconds;
  return record;
}

void Trainer::Run_::Validate(EpochRecord& record) {
  record.validation_loss = record.validation_accuracy = record.monitored = kNaN;
  if (validation == nullptr) {
    return;
  }
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
    for (int64_t begin = 0; begin < validation->rows();) {
      begin = evaluate(begin);
    }
    sums = ReadSums();
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
}

void Trainer::Run_::FinishEpoch(EpochRecord& record) {
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

TrainState Trainer::Run_::Snapshot() const {
  TrainState copy = state;
  copy.parameters = executor.TrainedParameters();
  if (copy.parameters.size_bytes() > owner.network_.parameter_bytes()) {
    copy.answering_parameters = executor.FoldedParameters();
  }
  copy.optimiser.clear();
  if (lbfgs != nullptr) {
    copy.optimiser = lbfgs->state();
  }
  for (int i = 0; i < executor.state_count(); ++i) {
    const Buffer& array = executor.state(i);
    AlignedBuffer& saved = copy.optimiser.emplace_back(array.size_bytes());
    owner.backend_.Download(saved.data(), array.data(), array.size_bytes());
  }
  return copy;
}

Trainer::Trainer(Network& network, const Backend& backend, const TrainOptions& options, Communicator* ranks)
    : network_(network), backend_(backend), options_(options), ranks_(ranks) {
  options_.Validate();
  options_.RequireRoutes(network.layers(), network.members());
  Check(ranks == nullptr || ranks->size() == 1 || options.shards > 0, "ranks share a batch by its shards");
}

Trainer::~Trainer() = default;

void Trainer::Resume(TrainState state) {
  if (const Verdict verdict = CheckTrainState(state, network_, options_); !verdict) {
    throw Error(ErrorCode::kBadModel, "the saved training state does not fit: " + verdict.reason);
  }
  state_ = std::move(state);
  resumed_ = true;
}

const History& Trainer::Run(const Dataset& train, const Dataset* validation, const TrainCallbacks& callbacks) {
  if (train.size() == 0) {
    throw Error(ErrorCode::kBadData, "there are no training rows");
  }
  RequireFit(train, network_);
  if (validation != nullptr && validation->size() == 0) {
    validation = nullptr;
  }
  if (validation != nullptr) {
    RequireFit(*validation, network_);
  }
  if ((options_.patience > 0 || options_.patience_waves > 0) && validation == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "early stopping (patience, patience-waves) needs validation rows",
                {.remedy = "Give a validation share, or set both to 0."});
  }
  Run_ run(*this, train, validation, callbacks);
  if (run.sharded != nullptr) {
    overlaps_ = run.sharded->overlaps();
    exchanged_by_ = run.sharded->ExchangedBy();
    part_bytes_ = run.sharded->PartSizes_bytes();
  }
  run.Start();
  state_.history.stop_reason = "epochs";
  while (state_.epoch < options_.epochs) {
    if (options_.StopsEarly(state_.epoch, state_.epochs_since_best)) {
      state_.history.stop_reason = "early_stopping";
      break;
    }
    if (!run.TrainEpoch()) {
      state_.history.stop_reason = "interrupted";
      run.SaveCheckpoint();
      break;
    }
    EpochRecord record = run.TrainRecord();
    run.Validate(record);
    run.FinishEpoch(record);
    if (callbacks.answers) {
      callbacks.answers(run.executor.FoldedParameters());
    }
    if (callbacks.epoch_done) {
      callbacks.epoch_done(record);
    }
    if (run.lbfgs != nullptr && run.lbfgs->converged()) {
      state_.history.stop_reason = "converged";
      break;
    }
    const bool stopped = run.Stopped();
    const bool due = options_.checkpoint_epochs > 0 && state_.epoch % options_.checkpoint_epochs == 0;
    if (stopped || due) {
      run.SaveCheckpoint();
    }
    if (stopped && state_.epoch < options_.epochs) {
      state_.history.stop_reason = "interrupted";
      break;
    }
  }
  run.StoreKept();
  return state_.history;
}

}  // namespace lamina
