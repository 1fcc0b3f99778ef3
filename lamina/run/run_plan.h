// RunPlan: what a run will be, worked out from settings and tables before anything is encoded or trained.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lamina/data/encode/decisions.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/encode/sample_weights.h"
#include "lamina/data/files/reader.h"
#include "lamina/run/folds.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings.h"
#include "lamina/settings/split.h"

namespace lamina {

/// Tables as read, with derived columns.
struct RawData {
  ReadResult main;
  std::optional<Table> validation;
};

/// What is read, and how: equal ones give the same RawData.
struct DataSources {
  std::string data;
  std::string test;
  std::string validation;
  ReadOptions read;
  DeriveOptions derive;

  bool operator==(const DataSources&) const = default;
};
DataSources SourcesFrom(const TrainSettings& settings);

/// Reads every file. Throws Error.
RawData ReadRawData(const DataSources& sources);
inline RawData ReadRawData(const TrainSettings& settings) { return ReadRawData(SourcesFrom(settings)); }

/// What decides how raw rows are split and encoded, whatever the network and its loss. Equal ones give the same inputs,
/// classes and weights of one RawData.
struct DataOptions {
  int64_t samples = 0;  // rows used; 0: all
  bool random_samples = false;
  std::string split_by;
  std::string group;  // as SplitGroups(); of folds theirs
  SplitOptions split;
  FoldOptions folds;
  PreprocessOptions preprocess;
  bool in_order = false;  // training rows as the file has them; else shuffled by the seed
  WeightOptions weights;
  std::vector<std::string> soft_targets;
  DType dtype = DType::kF32;

  bool operator==(const DataOptions&) const = default;
};
DataOptions DataOptionsFrom(const TrainSettings& settings, const RawData& raw);

/// Whether all rows that the settings use make the target a class or a number to predict. Throws Error.
Task TaskOf(const TrainSettings& settings, const RawData& raw);

/// The table of test rows that the run has apart; null where they are a part of the data: always for a fold.
const Table* TestTableOf(const TrainSettings& settings, const RawData& raw);

/// Which rows train and how they are encoded.
struct DataPlan {
  Split split;  // rows of raw.main.train
  Preprocessor preprocessor;
  std::vector<ColumnDecision> decisions;  // about columns, that nobody asked for
};

/// Splits and fits the preprocessing on the training rows, or takes `fitted`; its targets have the form that the
/// settings' network needs. Throws Error.
DataPlan PlanData(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom = {},
                  const Preprocessor* fitted = nullptr);

/// What the settings mean for these targets: all but the width of a network.
inline ResolvedSettings ResolveFor(const TrainSettings& settings, const TargetEncoder& targets) {
  return Resolve(settings, !targets.class_names().empty());
}

/// What they mean for these rows.
inline ResolvedSettings ResolveFor(const TrainSettings& settings, const TrainRows& rows) {
  return Resolve(settings, rows.classes, rows.train);
}

/// The form of the targets for the network that the settings describe. Throws Error where no network suits them.
TargetForm FormFor(const ResolvedSettings& settings, const TargetEncoder& targets,
                   std::span<const Activation> custom = {});

/// The layers that inputs and targets of a preprocessor need.
struct NetworkPlan {
  OutputPlan output{};
  /// A distance layer that takes its radius from the encoded rows has radius 1 here, one that finds its centers among
  /// them one center.
  std::vector<LayerSpec> layers;
  int64_t members = 1;
  int64_t parameter_count() const;
};

/// Throws Error where no network can have them.
NetworkPlan PlanNetwork(const ResolvedSettings& settings, const Preprocessor& preprocessor,
                        std::span<const Activation> custom = {});

struct RunPlan {
  std::string method;         // of ChooseMethod()
  std::string recipe;         // RecipeFor()
  std::string recipe_remark;  // of ChooseMethod()
  DataPlan data;
  NetworkPlan network;

  // Without the rows that the preprocessor leaves out for missing values.
  TrainRows rows() const {
    return {train_rows, validation_rows, !data.preprocessor.targets().class_names().empty(),
            data.preprocessor.inputs().count()};
  }
  int64_t train_rows = 0;
  int64_t validation_rows = 0;
  int64_t test_rows = 0;
  int64_t left_out_rows = 0;  // of all three
  AutoTraining training;      // epochs, batch and patience: those of the settings, or what rows made of auto
};

/// A preview of the run: PlanData and PlanNetwork. Reads the columns once or twice, encodes nothing. Throws Error where
/// a run could not start, also for values missing in validation or test rows.
RunPlan PlanRun(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom = {});

}  // namespace lamina
