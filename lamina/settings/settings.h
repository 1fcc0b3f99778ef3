// TrainSettings: everything a training run is made from. A field here and its row in settings_rows.cc are a setting in
// the program's flags, configuration files, model files, searches and the desktop application.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/file.h"
#include "lamina/base/setting.h"
#include "lamina/boost/trees.h"
#include "lamina/data/encode/preprocess_options.h"
#include "lamina/data/encode/sample_weights.h"
#include "lamina/data/encode/target_encoder.h"
#include "lamina/data/files/reader.h"
#include "lamina/nn/network.h"
#include "lamina/rbf/kernel_machine.h"
#include "lamina/settings/auto_training.h"
#include "lamina/settings/split.h"
#include "lamina/train/train_options.h"
#include "lamina/train/trainer.h"

namespace lamina {

/// --monitor: the validation loss.
inline constexpr const char* kMonitorLoss = "loss";

/// The method that trains by gradients.
inline constexpr std::string_view kBackpropagation = "backpropagation";

struct TrainSettings {
  // data
  std::string data;
  std::string test;
  std::string validation;
  std::vector<std::string> target;
  std::vector<std::string> drop;
  std::string task = "auto";
  std::string header = "auto";
  int64_t header_line = 0;
  std::string around = "skip";
  std::string separator = "auto";
  std::vector<std::string> text_columns;
  std::vector<std::string> missing_values;
  bool strict = false;
  std::string encoding = "auto";
  std::string sheet;
  std::string decimal = "auto";
  std::string date_order = "auto";
  std::vector<std::string> use;
  std::string missing = "mean";
  std::string missing_indicator = "auto";
  std::string select = "auto";
  std::string unseen = "zero";
  int64_t samples = 0;
  bool random_samples = false;
  std::string memory;  // of encoded data; empty: all that it takes
  std::vector<std::string> derive;
  std::string series_by;
  std::string order_by;
  std::vector<std::string> class_map;
  std::vector<double> split;
  bool stratify = false;
  std::string split_by;
  std::string encode = "onehot";
  std::optional<int64_t> min_count;
  int64_t max_categories = PreprocessOptions{}.max_categories;
  std::string text = "auto";
  std::optional<int64_t> text_inputs;
  std::string dates = "auto";
  std::vector<std::string> codes;
  std::string numbers = "scaled";
  int64_t bins = PreprocessOptions{}.bins;
  std::string scale = "auto";
  std::string target_scale = "auto";
  std::vector<double> target_values;
  std::vector<std::string> class_weights;
  std::string weight_column;
  std::vector<std::string> soft_target;
  std::string baseline;
  std::string cost_matrix;
  // network
  std::string recipe = "auto";  // what the settings that are left open are: recipe.h
  std::vector<int64_t> hidden;  // empty: open
  std::string activation = "auto";
  std::string output_activation = "auto";
  std::string layers;
  bool bias = true;
  std::optional<double> gain;
  std::optional<double> threshold;
  std::string init = "auto";
  std::string parametrization = "auto";
  std::string number_embedding = "auto";  // these five: embedding.h
  int64_t waves = 16;
  double wave_scale = 1;
  int64_t embedding_size = 3;
  std::optional<int64_t> category_embedding;
  std::optional<double> front_scale;
  std::string zero_last = "auto";
  bool residual = false;
  int64_t members = 1;
  std::string dtype = "f32";
  std::string precision = "exact";
  // method
  std::string effort = "normal";  // effort.h
  std::string time_limit;         // of effort best; empty: kLimitOfBest_seconds
  std::string state;              // a folder of effort best; empty: nothing is kept on the way
  int64_t nested = 0;             // folds that effort best is judged by
  std::string method = "auto";
  std::string neuron = "auto";
  std::optional<double> radius;
  std::optional<double> overlap;
  std::string hidden_weights = "uniform";
  std::string centres = "rows";
  std::optional<double> ridge_c;
  std::string feature_weights = "diagonal";
  int64_t feature_rounds = KernelChoices{}.rounds;
  std::optional<double> ridge;
  std::optional<double> fit_seconds;
  double prune = 0;
  std::string trees = "auto";  // beside what else answers
  std::string line = "auto";   // before what else answers
  std::optional<int64_t> tree_leaves;
  std::optional<int64_t> tree_pairs;
  int64_t tree_rounds = BoostOptions{}.rounds;
  double tree_rate = BoostOptions{}.rate;
  std::string distance = "l2";
  int64_t k = 5;
  std::string start_from;
  std::vector<std::string> freeze;
  // training
  std::string loss = "auto";
  std::vector<double> quantiles;
  std::string optimizer = "adam";
  std::optional<double> learning_rate;
  std::optional<double> bias_rate;
  std::optional<double> embedding_rate;
  std::optional<double> label_smoothing;
  double dropout = StepOptions{}.dropout;
  double mixup = StepOptions{}.mixup;
  std::string normalization = "none";
  double momentum = UpdateRule{}.momentum;
  std::optional<double> weight_decay;
  double beta1 = UpdateRule{}.beta1;
  std::optional<double> beta2;
  double epsilon = UpdateRule{}.epsilon;
  double clip_norm = StepOptions{}.clip_norm;
  std::optional<int64_t> epochs;  // these and the decay: by the number of rows, AutoTrainingFor()
  std::optional<int64_t> batch;
  int64_t shards = TrainOptions{}.shards;
  bool shard_data = false;
  std::string gradients = "exact";
  std::string schedule = "auto";
  double schedule_factor = Schedule{}.factor;
  int64_t schedule_epochs = Schedule{}.step_epochs;
  int64_t schedule_patience = Schedule{}.patience;
  double warmup = Schedule{}.warmup;
  std::optional<int64_t> patience;
  std::optional<int64_t> patience_waves;
  double min_improvement = TrainOptions{}.min_improvement;
  std::string keep = "auto";
  int64_t quantize_aware = 0;
  bool shuffle = true;
  uint64_t seed = 1;
  // how good it is
  int64_t folds = 0;
  int64_t fold = 0;
  bool bag = false;
  std::string group;
  std::string out_of_fold;
  std::vector<std::string> metrics;
  std::string monitor = "auto";
  bool calibrate = false;
  std::optional<double> intervals;
  // machine and files
  std::string backend = "auto";
  int64_t threads = 0;
  std::string model;
  bool overwrite = false;
  std::string history;
  std::string history_json;
  std::string checkpoint;
  int64_t checkpoint_epochs = 0;
};

template <>
std::span<const Setting<TrainSettings>> SettingRows();

// The groups of their rows: data and their encoding, network, methods other than backpropagation, how that trains, how
// good it is, machine and files.
inline constexpr std::string_view kDataGroup = "Data";
inline constexpr std::string_view kNetworkGroup = "Network";
inline constexpr std::string_view kMethodGroup = "Method";
inline constexpr std::string_view kTrainingGroup = "Training";
inline constexpr std::string_view kQualityGroup = "How good it is";
inline constexpr std::string_view kMachineGroup = "Machine and files";

/// By name; optional settings that are not set are null.
nlohmann::json ToJson(const TrainSettings& settings);
/// Names that are absent keep their defaults. Throws Error(kBadModel) naming a setting of the wrong type.
TrainSettings TrainSettingsFromJson(const nlohmann::json& node);

/// Other methods have no epochs to go on from. "auto" is backpropagation where ChooseMethod() (run/method_choice.h) has
/// not made it another.
inline bool LearnsByGradient(const TrainSettings& settings) {
  return settings.method == kBackpropagation || settings.method == "auto";
}

}  // namespace lamina
