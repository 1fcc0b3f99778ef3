// How long to train, and in which steps, where the settings leave it open: by the number of rows.
#pragma once

#include <cstdint>

namespace lamina {

struct TrainRows {
  int64_t train = 0;
  int64_t validation = 0;
  bool classes = false;
  int64_t inputs = 0;
};

struct AutoTraining {
  int64_t epochs = 0;    // at most
  int64_t batch = 0;     // samples a step
  int64_t patience = 0;  // epochs without a better validation loss before stopping; 0: never
  double weight_decay = 0;
};

/// Few rows mean few steps an epoch, so they get more epochs: enough for networks of usual size to stop improving.
/// Early stopping notices it if there are validation rows. Measured on the data sets of bench/peers/first_hour.
AutoTraining AutoTrainingFor(const TrainRows& rows);

/// The same for --effort quick, whose rate falls to nothing at the end: 100 epochs, more of few rows, fewer of many
/// (docs/decisions/0108).
AutoTraining QuickTrainingFor(const TrainRows& rows);

/// The same for recipe tabular. Few rows get the epochs it was made with; more rows get fewer, so that its three layers
/// are trained in seconds. Waves of numbers learn the rows by heart sooner: a quarter of the epochs
/// (docs/decisions/0114).
AutoTraining RecipeTrainingFor(const TrainRows& rows, bool waves);

}  // namespace lamina
