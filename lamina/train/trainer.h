// Trainer: minibatch gradient descent over a data set (2016 paper, Algorithm 2), with validation, schedules, early
// stopping, and a state that can be saved after any step and continued to the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/setting.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/network.h"
#include "lamina/train/history.h"
#include "lamina/train/schedule.h"

namespace lamina {

/// Which weights remain at the end. kAuto: the best ones if early stopping is on, the last ones otherwise.
enum class Keep { kAuto, kBest, kLast };

struct TrainOptions {
  int64_t epochs = 20;
  int64_t batch = 32;  // larger than the data: the whole data
  Loss loss = Loss::kCrossEntropy;
  Precision precision = Precision::kExact;  // kBFloat16: master weights and sums stay f32
  UpdateRule rule;
  Schedule schedule;
  uint64_t seed = 0;
  bool shuffle = true;           // a new order every epoch
  int64_t patience = 0;          // epochs without improvement of the validation loss before stopping; 0: never
  double min_improvement = 0.0;  // what counts as one
  Keep keep = Keep::kAuto;
  int64_t checkpoint_epochs = 0;  // calls back every so many epochs; 0: only when stopped
  double class_threshold = 0.5;   // of a single output
  double clip_norm = 0;           // largest L2 norm of a step's gradient; 0: any
  double label_smoothing = 0;     // share of the training targets that is spread over the classes

  bool KeepsBest() const { return keep == Keep::kBest || (keep == Keep::kAuto && patience > 0); }
  /// Throws Error(kInvalidArgument) naming the number, its value and what is allowed: TrainRanges.
  void Validate() const;
};

/// What the numbers of TrainOptions may be.
struct TrainRanges {
  static constexpr NumberRange epochs = kAtLeastOne;
  static constexpr NumberRange batch = kAtLeastOne;
  static constexpr NumberRange learning_rate = kPositive;
  static constexpr NumberRange momentum = kShareBelowOne;
  static constexpr NumberRange weight_decay = kNotNegative;
  static constexpr NumberRange beta1 = kShareBelowOne;
  static constexpr NumberRange beta2 = kShareBelowOne;
  static constexpr NumberRange epsilon = kPositive;
  static constexpr NumberRange clip_norm = kNotNegative;
  static constexpr NumberRange label_smoothing = kShareBelowOne;
  static constexpr NumberRange schedule_factor = kPositive;
  static constexpr NumberRange schedule_epochs = kAtLeastOne;
  static constexpr NumberRange schedule_patience = kAtLeastOne;
  static constexpr NumberRange patience = kNotNegative;
  static constexpr NumberRange min_improvement = kNotNegative;
  static constexpr NumberRange checkpoint_epochs = kNotNegative;
};

/// Everything that training depends on besides data, network shape and options: enough to go on with the same bits.
struct TrainState {
  int64_t epoch = 0;  // whole epochs done
  int64_t step = 0;   // steps done in the current one
  LossSums sums;      // of those steps
  double epoch_seconds = 0;
  int64_t updates = 0;
  int64_t reductions = 0;  // of the plateau schedule
  int64_t epochs_since_best = 0;
  int64_t epochs_since_reduction = 0;
  double best_loss = 0;  // meaningful once history.best_epoch > 0
  History history;
  AlignedBuffer parameters;       // as Network::parameters(), of the running network
  AlignedBuffer best_parameters;  // empty before the first epoch ends, or when not kept
  std::vector<AlignedBuffer> optimiser;
};

/// Throws Error(kInvalidArgument) naming both shapes where `data` are not rows for `network`.
void RequireFit(const Dataset& data, const Network& network);

/// Whether training of `network` by `options` can go on from `state`, as far as that shows without the data.
Verdict CheckTrainState(const TrainState& state, const Network& network, const TrainOptions& options);

struct TrainProgress {
  int64_t epoch = 0;  // from 1
  int64_t epochs = 0;
  int64_t step = 0;  // done in this epoch
  int64_t steps = 0;
  double mean_loss = 0;  // of this epoch so far
  double accuracy = 0;
  double samples_per_second = 0;
  double seconds_left = 0;  // estimate for all remaining epochs
};

/// All optional; called from the training thread.
struct TrainCallbacks {
  std::function<void(const TrainProgress&)> progress;  // at most ten times a second
  std::function<void(const EpochRecord&)> epoch_done;
  std::function<bool()> stop_requested;  // asked after every step; true ends with "interrupted"; may wait: such time is
                                         // not counted (RunControl pauses a run so)
  std::function<void(TrainState&&)> checkpoint;  // every checkpoint_epochs and when stopped
};

class Trainer {
 public:
  /// `network` gives the first weights and receives the trained ones. Both must outlive the trainer. Throws Error.
  Trainer(Network& network, const Backend& backend, const TrainOptions& options);
  ~Trainer();

  /// Goes on from a saved state of the same network, data and options. Throws Error(kBadModel) where it does not fit.
  void Resume(TrainState state);

  /// Trains to the end, an early stop or stop_requested. `validation` may be null. The history's stop_reason says
  /// which. Throws Error(kDiverged) at the first step whose loss is not finite, naming epoch and step.
  const History& Run(const Dataset& train, const Dataset* validation, const TrainCallbacks& callbacks);

 private:
  struct Run_;  // one Run(): resident data, counters
  Network& network_;
  const Backend& backend_;
  TrainOptions options_;
  TrainState state_;
  bool resumed_ = false;
};

std::string_view KeepName(Keep keep);
std::vector<std::string> KeepNames();
Keep ParseKeep(std::string_view name);

}  // namespace lamina
