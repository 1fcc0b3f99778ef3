// The training loop. Run() checks the rows and goes on from a saved state, if there is one. Each epoch trains and
// validates (TrainRun), tells the callbacks, and writes a checkpoint where one is due. The loop ends by early stopping,
// convergence, or the wish to stop. Files are the caller's.
#include "lamina/train/trainer.h"

#include <optional>
#include <utility>

#include "lamina/base/check.h"
#include "lamina/train/data_feed.h"
#include "lamina/train/train_run.h"

namespace lamina {
namespace {

constexpr const char* kConverged = "converged";

}  // namespace

Trainer::Trainer(Network& network, const Backend& backend, const TrainOptions& options, Communicator* ranks)
    : network_(network), backend_(backend), options_(options), ranks_(ranks) {
  options_.Validate();
  options_.RequireRoutes(network.layers(), network.members());
  Check(ranks == nullptr || ranks->size() == 1 || options.shards > 0, "ranks share a batch by its shards");
}

void Trainer::Resume(TrainState state) {
  if (const Verdict verdict = CheckTrainState(state, network_, options_); !verdict) {
    throw Error(ErrorCode::kBadModel, "the saved training state does not fit: " + verdict.reason);
  }
  state_ = std::move(state);
  resumed_ = true;
}

void Trainer::RequireRows(const Dataset& train, const Dataset* validation) const {
  if (train.size() == 0) {
    throw Error(ErrorCode::kBadData, "there are no training rows");
  }
  RequireFit(train, network_);
  if (validation != nullptr) {
    RequireFit(*validation, network_);
  } else if (options_.patience > 0 || options_.patience_waves > 0) {
    throw Error(ErrorCode::kInvalidArgument, "early stopping (patience, patience-waves) needs validation rows",
                {.remedy = "Give a validation share, or set both to 0."});
  }
}

const History& Trainer::Run(const Dataset& train, const Dataset* validation, const TrainCallbacks& callbacks) {
  validation = validation != nullptr && validation->size() > 0 ? validation : nullptr;
  RequireRows(train, validation);
  TrainRun run(network_, backend_, options_, ranks_, state_, train, validation, callbacks);
  if (run.sharded != nullptr) {
    overlaps_ = run.sharded->overlaps();
    exchanged_by_ = run.sharded->ExchangedBy();
    part_bytes_ = run.sharded->PartSizes_bytes();
  }
  if (resumed_) {
    run.Resume();
  }
  const bool converged = resumed_ && state_.history.stop_reason == kConverged;
  state_.history.stop_reason = converged ? kConverged : "epochs";
  while (!converged && state_.epoch < options_.epochs) {
    if (options_.StopsEarly(state_.epoch, state_.epochs_since_best)) {
      state_.history.stop_reason = "early_stopping";
      break;
    }
    std::optional<EpochRecord> record = run.RunEpoch();
    if (!record) {
      state_.history.stop_reason = "interrupted";
      run.SaveCheckpoint();
      break;
    }
    run.FinishEpoch(*record);
    if (callbacks.answers) {
      callbacks.answers(run.executor.FoldedParameters());
    }
    if (callbacks.epoch_done) {
      callbacks.epoch_done(*record);
    }
    if (run.lbfgs != nullptr && run.lbfgs->converged()) {
      state_.history.stop_reason = kConverged;
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
  run.End();
  return state_.history;
}

}  // namespace lamina
