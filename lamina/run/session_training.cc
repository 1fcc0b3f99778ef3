// What a session trains: a network by the Trainer's steps, then a kernel machine and trees beside it. The network goes
// on after its last step where it was stopped, the others from their beginning.
#include <memory>
#include <utility>

#include "lamina/base/check.h"
#include "lamina/base/stop.h"
#include "lamina/cluster/communicator.h"
#include "lamina/run/checkpoint.h"
#include "lamina/run/direct_training.h"
#include "lamina/run/line_first.h"
#include "lamina/run/others_beside.h"
#include "lamina/run/session.h"
#include "lamina/run/start_model.h"
#include "lamina/run/train_data.h"
#include "lamina/run/tune_for_int8.h"
#include "lamina/settings/centres.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/train/trainer.h"

namespace lamina {

void TrainSession::LetLineAnswerFirst() {
  learned_ = data_;
  const bool trains = !found_ || found_->networks.empty();
  if (std::optional<Line> line = trains && !options_.monitor ? FindLine(settings_, *data_, model_) : std::nullopt) {
    line_ = std::make_unique<const Line>(std::move(*line));
    learned_ = std::make_shared<const TrainData>(LeftBy(*line_, *data_));
    Announce(*line_, model_);
  }
}

History TrainSession::RunTrainer(TrainCallbacks callbacks, TrainResult& result) {
  if (const std::optional<ClusterKind> kind = CentresFrom(settings_.centres); kind && !resume_state_) {
    const ClusterOptions options{.kind = *kind,
                                 .seed = settings_.seed,
                                 .shards = settings_.shards,
                                 .ranks = ranks_,
                                 .stop_requested = callbacks.stop_requested};
    bool complete = false;
    const auto place = [&] { complete = PlaceClusters(model_.network, learned_->train, options, *backend_).complete; };
    const bool stops = ranks_ == nullptr && callbacks.stop_requested;
    if ((stops ? StopsAt(callbacks.stop_requested, place) : (place(), false)) || !complete) {
      History history;
      history.stop_reason = "interrupted";
      return history;
    }
  }
  Trainer trainer(model_.network, *backend_, options_, ranks_);
  if (resume_state_) {
    trainer.Resume(*std::exchange(resume_state_, std::nullopt));
  }
  bool stopped = false;
  const std::string path = CheckpointPath();
  callbacks.stop_requested = [&stopped, ask = std::move(callbacks.stop_requested)] {
    return stopped = stopped || (ask && ask());
  };
  if (callbacks.abandon_requested) {
    callbacks.abandon_requested = [&stopped, ask = std::move(callbacks.abandon_requested)] {
      return stopped = stopped || ask();
    };
  }
  callbacks.checkpoint = [&](TrainState&& state) {
    if (!path.empty() && IsFirst()) {
      SaveCheckpoint(path, model_, state, Fingerprint());
    }
    if (stopped) {
      resume_state_ = std::move(state);
    }
  };
  if (HasOthersBeside(settings_)) {
    callbacks.ended = [&](TrainState&& state) { resume_state_ = std::move(state); };
  }
  const History& history = trainer.Run(learned_->train, &learned_->validation, callbacks);
  result.overlaps = trainer.overlaps();
  result.exchanged_by = trainer.exchanged_by();
  return history;
}

void TrainSession::TrainModel(TrainCallbacks callbacks, OthersBeside& others, TrainResult& result) {
  const std::function<bool()> stop = callbacks.stop_requested;
  result.history = LearnsByGradient(settings_)
                       ? RunTrainer(std::move(callbacks), result)
                       : TrainDirectly(settings_, *learned_, *backend_, model_, callbacks, ranks_);
  if (line_) {
    result.history = InUnitsOfTargets(*line_, std::move(result.history));
  }
  if (result.history.stop_reason != "interrupted" && !RunOthers(stop, others)) {
    result.history.stop_reason = "interrupted";
  }
  if (settings_.quantize_aware > 0 && result.history.stop_reason != "interrupted") {
    result.int8 = TuneForInt8({settings_, options_, *data_, *backend_, stop}, model_);
    model_.training["quantize_aware"] = ToJson(*result.int8);
  }
}

bool TrainSession::RunOthers(const std::function<bool()>& stop_requested, OthersBeside& trained) {
  if (!LearnsByGradient(settings_)) {  // those of a kernel machine are a part of it
    return true;
  }
  only_others_left_ = HasOthersBeside(settings_) && can_go_on();
  const bool begins = !only_others_left_ || !stop_requested || !stop_requested();
  if (begins && TrainOthersBeside(settings_, *learned_, *backend_, stop_requested, trained)) {
    if (only_others_left_) {
      resume_state_.reset();
    }
    only_others_left_ = false;
    return true;
  }
  if (const std::string path = CheckpointPath(); !path.empty() && only_others_left_) {
    WriteCheckpoint(path);
  }
  return false;
}

void TrainSession::WriteCheckpoint(const std::string& path) {
  Check(can_go_on(), "a checkpoint of a run that goes on");
  SaveCheckpoint(path, model_, *resume_state_, Fingerprint());
}

}  // namespace lamina
