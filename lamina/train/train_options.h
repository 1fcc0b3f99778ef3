// The options of training, with what they may be.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/setting.h"
#include "lamina/nn/executor.h"
#include "lamina/train/history.h"
#include "lamina/train/schedule.h"

namespace lamina {

/// Which weights remain at the end. kAuto: those of the best epoch where there are validation rows, else the last ones.
/// kLastBest: the same, and of equally good epochs the last one. kBestWave: as kLastBest, among epochs where a wave of
/// the schedule ends, at rate 0, as validation rows tell few networks apart. Before the first such epoch, and without
/// waves, all epochs count.
enum class Keep { kAuto, kBest, kLast, kLastBest, kBestWave };

std::string_view KeepName(Keep keep);
std::vector<std::string> KeepNames();
Keep ParseKeep(std::string_view name);

/// The name of L-BFGS among the optimizers.
inline constexpr std::string_view kLbfgs = "lbfgs";

struct TrainOptions {
  StepOptions step{.loss = Loss::kCrossEntropy};
  int64_t epochs = 20;
  int64_t batch = 32;  // larger than the data: the whole data
  int64_t shards = 0;  // parts of a batch whose gradients are summed in a fixed order (ShardedSteps); 0: one piece
  bool gradients_as_bf16 = false;  // between ranks
  int64_t sharded_rows = 0;        // training rows of all ranks where the shards own them (ShardRows) and each rank is
                                   // given its own alone; 0: every rank is given all rows
  int64_t window_rows = 0;         // of training rows in files: those that are shuffled at a time; 0: all
  UpdateRule rule;
  bool lbfgs = false;  // steps by Lbfgs (train/lbfgs.h) instead, each on all rows; of the rule only the decay counts
  Schedule schedule;
  bool shuffle = true;           // a new order every epoch
  int64_t patience = 0;          // epochs without improvement of the validation loss before stopping; 0: never
  int64_t patience_waves = 0;    // waves of the schedule coslog4 without one before stopping, at their end; 0: never
  double min_improvement = 0.0;  // what counts as one
  Keep keep = Keep::kAuto;
  /// What tells the best epoch instead of the validation loss, from the network's outputs for the validation rows.
  /// Empty: the loss.
  std::function<double(const Matrix& outputs)> monitor;
  bool monitor_higher = false;    // more of it is better
  int64_t checkpoint_epochs = 0;  // calls back every so many epochs; 0: only when stopped

  /// `watched`: there are validation rows.
  bool KeepsBest(bool watched) const { return keep == Keep::kBest || (keep != Keep::kLast && watched); }
  /// Whether `epoch`, counted from 1, is better than the best one so far: by what is watched after each, less is
  /// better.
  bool IsBetter(int64_t epoch, double watched, double best) const;
  /// Whether training ends early after `epoch` epochs, the last `since_best` of them without improvement.
  bool StopsEarly(int64_t epoch, int64_t since_best) const;
  /// Arrays of state that training keeps.
  int StateCount() const;
  /// Throws Error(kInvalidArgument) where such a network cannot be trained in shards or by lbfgs as these options ask
  /// for.
  void RequireRoutes(std::span<const LayerSpec> layers, int64_t members) const;
  /// Throws Error(kInvalidArgument) naming the number, its value and what is allowed: TrainRanges.
  void Validate() const;
};

/// What the numbers of TrainOptions may be.
struct TrainRanges {
  static constexpr NumberRange epochs = kAtLeastOne;
  static constexpr NumberRange batch = kAtLeastOne;
  static constexpr NumberRange shards{.low = 0, .high = 65536};
  static constexpr NumberRange learning_rate = kPositive;
  static constexpr NumberRange momentum = kShareBelowOne;
  static constexpr NumberRange weight_decay = kNotNegative;
  static constexpr NumberRange beta1 = kShareBelowOne;
  static constexpr NumberRange beta2 = kShareBelowOne;
  static constexpr NumberRange epsilon = kPositive;
  static constexpr NumberRange warmup = kShareBelowOne;
  static constexpr NumberRange schedule_factor = kPositive;
  static constexpr NumberRange schedule_epochs = kAtLeastOne;
  static constexpr NumberRange schedule_patience = kAtLeastOne;
  static constexpr NumberRange patience = kNotNegative;
  static constexpr NumberRange patience_waves = kNotNegative;
  static constexpr NumberRange quantize_aware = kNotNegative;
  static constexpr NumberRange min_improvement = kNotNegative;
  static constexpr NumberRange checkpoint_epochs = kNotNegative;
};

}  // namespace lamina
