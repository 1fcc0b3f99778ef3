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

/// Few rows are few steps an epoch, so they get more epochs: enough for networks of usual size to stop getting better,
/// which early stopping notices where there are validation rows. Measured on the data sets of bench/peers/first_hour.
AutoTraining AutoTrainingFor(const TrainRows& rows);

/// The same for recipe tabular: as many epochs as it was made with where rows are few, and fewer from there on, so that
/// its three layers are trained in seconds.
AutoTraining RecipeTrainingFor(const TrainRows& rows);

}  // namespace lamina
