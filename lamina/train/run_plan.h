// RunPlan: what a run will be, worked out from settings and tables before anything is encoded or trained.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/files/reader.h"
#include "lamina/train/settings.h"
#include "lamina/train/split.h"

namespace lamina {

/// Tables as read, with derived columns.
struct RawData {
  ReadResult main;
  std::optional<Table> validation;
};

/// Reads every file of the settings. Throws Error.
RawData ReadRawData(const TrainSettings& settings);

/// Which rows train and how they are encoded.
struct DataPlan {
  Split split;  // rows of raw.main.train
  Preprocessor preprocessor;
};

/// Splits and fits the preprocessing on the training rows, or takes `fitted`. Throws Error.
DataPlan PlanData(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom = {},
                  const Preprocessor* fitted = nullptr);

/// What the settings make of the preprocessing when the target turns out to need `plan`; null: not known yet.
PreprocessOptions OptionsFor(const TrainSettings& settings, const RawData& raw, const OutputPlan* plan);

/// How many classes the target has, 0 for regression.
int64_t ClassCount(const Preprocessor& preprocessor);

/// The layers that inputs and targets of a preprocessor need.
struct NetworkPlan {
  OutputPlan output{};
  std::vector<LayerSpec> layers;  // a distance layer that takes its radius from the encoded rows has radius 1 here
  int64_t parameter_count() const;
};

/// Throws Error where no network can have them.
NetworkPlan PlanNetwork(const TrainSettings& settings, const Preprocessor& preprocessor,
                        std::span<const Activation> custom = {});

struct RunPlan {
  DataPlan data;
  NetworkPlan network;

  // Rows as split; those that the preprocessor leaves out (missing values) are still in these.
  int64_t train_rows = 0;
  int64_t validation_rows = 0;
  int64_t test_rows = 0;
};

/// A preview of the run: PlanData and PlanNetwork. Reads the columns once or twice, encodes nothing. Throws Error where
/// a run could not start, also for values missing in validation or test rows.
RunPlan PlanRun(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom = {});

}  // namespace lamina
