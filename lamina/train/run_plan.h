// RunPlan: what a run will be, worked out from settings and tables before anything is trained.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lamina/data/preprocessor.h"
#include "lamina/data/reader.h"
#include "lamina/data/split.h"
#include "lamina/train/settings.h"

namespace lamina {

/// What the files of a run hold.
struct RunTables {
  ReadResult main;
  std::optional<Table> validation;
};

/// Reads the files that the settings name. Throws Error.
RunTables ReadRunTables(const TrainSettings& settings);

struct RunPlan {
  Split split;  // rows of tables.main.train
  Preprocessor preprocessor;
  OutputPlan output{};
  std::vector<LayerSpec> layers;  // a distance layer that takes its radius from the encoded rows has radius 1 here

  // Rows as split; those that the preprocessor leaves out (missing values) are still in these.
  int64_t train_rows = 0;
  int64_t validation_rows = 0;
  int64_t test_rows = 0;
  int64_t parameter_count() const;
};

/// Splits, fits the preprocessing on the training rows (or takes `fitted`) and shapes the network. Reads the columns
/// once or twice, encodes nothing. Throws Error where a run could not start.
RunPlan PlanRun(const TrainSettings& settings, const RunTables& tables, const Preprocessor* fitted = nullptr,
                std::span<const Activation> custom = {});

}  // namespace lamina
