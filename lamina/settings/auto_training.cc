// Epochs, batch and patience by rows.
#include "lamina/settings/auto_training.h"

#include <algorithm>
#include <bit>

namespace lamina {
namespace {

constexpr int64_t kLeastBatch = 16;
constexpr int64_t kLargestBatch = 128;
constexpr int64_t kStepsAnEpoch = 128;  // between those two
constexpr int64_t kSteps = 30'000;      // with early stopping
constexpr int64_t kStepsUnwatched = 4'000;
constexpr int64_t kLeastEpochs = 10;
constexpr int64_t kMostEpochs = 500;
constexpr int64_t kMostEpochsUnwatched = 200;
constexpr int64_t kLeastPatience = 5;
constexpr int64_t kMostPatience = 50;
constexpr int64_t kPatienceShare = 5;  // of the epochs, one in this many

constexpr int64_t kQuickEpochs = 100;
constexpr int64_t kMostQuickEpochs = 400;
constexpr int64_t kFewQuickRows = 100'000;    // seen in all epochs together, if that takes no more than the most epochs
constexpr int64_t kLeastQuickRows = 600'000;  // seen at most, by how wide they are
constexpr int64_t kMostQuickRows = 1'000'000;
constexpr int64_t kQuickNumbers = 100'000'000;

constexpr int64_t kRecipeEpochs = 256;
constexpr int64_t kLeastRecipeEpochs = 16;
constexpr int64_t kRecipeRows = 1'000'000;  // seen in all epochs together
constexpr int64_t kShareOfWaves = 4;        // of these epochs, one in this many

constexpr double kMostDecay = 0.001;
constexpr double kDecayRows = 5;  // few rows are learned by heart without it, many are not

}  // namespace

AutoTraining AutoTrainingFor(const TrainRows& rows) {
  const bool watched = rows.validation > 0;
  const int64_t train = std::max<int64_t>(1, rows.train);
  AutoTraining training;
  training.batch = static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(std::clamp(train / kStepsAnEpoch, kLeastBatch, kLargestBatch))));
  const int64_t steps = (train + training.batch - 1) / training.batch;
  training.epochs = std::clamp((watched ? kSteps : kStepsUnwatched) / steps, kLeastEpochs,
                               watched ? kMostEpochs : kMostEpochsUnwatched);
  training.patience = watched ? std::clamp(training.epochs / kPatienceShare, kLeastPatience, kMostPatience) : 0;
  training.weight_decay = std::min(kMostDecay, kDecayRows / static_cast<double>(train));
  return training;
}

AutoTraining QuickTrainingFor(const TrainRows& rows) {
  AutoTraining training = AutoTrainingFor(rows);
  const int64_t train = std::max<int64_t>(1, rows.train);
  const int64_t seen = std::clamp(kQuickNumbers / std::max<int64_t>(1, rows.inputs), kLeastQuickRows, kMostQuickRows);
  training.epochs =
      std::min(std::clamp(kFewQuickRows / train, kQuickEpochs, kMostQuickEpochs), std::max(kLeastEpochs, seen / train));
  training.patience = 0;  // the rate ends at nothing: no epoch is watched
  return training;
}

AutoTraining RecipeTrainingFor(const TrainRows& rows, bool waves) {
  const int64_t train = std::max<int64_t>(1, rows.train);
  const int64_t epochs = std::clamp(kRecipeRows / train, kLeastRecipeEpochs, kRecipeEpochs);
  return {.epochs = waves ? epochs / kShareOfWaves : epochs, .batch = 256};
}

}  // namespace lamina
