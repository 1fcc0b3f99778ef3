// History: what happened epoch by epoch, as a table.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lamina {

/// Losses are means over samples. Accuracies are NaN for regression, validation fields NaN without validation rows.
struct EpochRecord {
  int64_t epoch = 0;  // from 1
  double learning_rate = 0;
  double train_loss = 0;
  double train_accuracy = 0;  // measured while the weights change
  double validation_loss = 0;
  double validation_accuracy = 0;
  double train_seconds = 0;                                     // this epoch's training steps
  double validation_seconds = 0;                                // this epoch's validation
  double samples_per_second = 0;                                // training
  double monitored = std::numeric_limits<double>::quiet_NaN();  // the metric that tells the best epoch; NaN: the loss
  int64_t best_epoch = 0;                                       // so far; in no file
};

struct History {
  std::vector<EpochRecord> epochs;
  int64_t best_epoch = 0;  // by the metric monitored, else validation loss (train loss without validation); 0: none yet
  std::string stop_reason;  // "epochs", "early_stopping", "converged" (lbfgs), "interrupted", "folds" (--bag)

  /// One line an epoch, header first; NaN fields are empty.
  std::string ToCsv() const;
  nlohmann::json ToJson() const;
  /// Throws Error(kBadModel).
  static History FromJson(const nlohmann::json& json);
};

}  // namespace lamina
