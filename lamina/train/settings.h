// TrainSettings: everything a training run is made from, with its names. The one list of names, defaults and help
// texts behind the program's flags, configuration files, model files and the desktop application.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/file.h"
#include "lamina/data/encode/preprocess_options.h"
#include "lamina/data/encode/sample_weights.h"
#include "lamina/data/encode/target_encoder.h"
#include "lamina/data/files/reader.h"
#include "lamina/nn/network.h"
#include "lamina/train/split.h"
#include "lamina/train/trainer.h"

namespace lamina {

struct TrainSettings {
  // data
  std::string data;
  std::string test;
  std::string validation;
  std::vector<std::string> target;
  std::vector<std::string> drop;
  std::string task = "auto";
  std::string header = "auto";
  std::string separator = "auto";
  std::vector<std::string> text_columns;
  std::string missing = "error";
  std::string unseen = "auto";
  int64_t samples = 0;
  bool random_samples = false;
  std::vector<std::string> derive;
  std::string series_by;
  std::string order_by;
  std::vector<std::string> class_map;
  std::vector<double> split;
  bool stratify = false;
  std::string split_by;
  std::string encode = "onehot";
  std::string scale = "auto";
  std::string target_scale = "auto";
  std::vector<double> target_values;
  std::vector<std::string> class_weights;
  std::string weight_column;
  std::string baseline;
  std::string cost_matrix;
  // network
  std::vector<int64_t> hidden{128};
  std::string activation = "relu";
  std::string output_activation = "auto";
  std::string layers;
  bool bias = true;
  std::optional<double> gain;
  std::optional<double> threshold;
  std::string init = "auto";
  std::string dtype = "f32";
  std::string precision = "exact";
  // training
  std::string loss = "auto";
  std::string optimizer = "adam";
  std::optional<double> learning_rate;
  double label_smoothing = TrainOptions{}.label_smoothing;
  double momentum = UpdateRule{}.momentum;
  double weight_decay = UpdateRule{}.weight_decay;
  double beta1 = UpdateRule{}.beta1;
  std::optional<double> beta2;
  double epsilon = UpdateRule{}.epsilon;
  double clip_norm = TrainOptions{}.clip_norm;
  int64_t epochs = TrainOptions{}.epochs;
  int64_t batch = TrainOptions{}.batch;
  std::string schedule = "constant";
  double schedule_factor = Schedule{}.factor;
  int64_t schedule_epochs = Schedule{}.step_epochs;
  int64_t schedule_patience = Schedule{}.patience;
  int64_t patience = TrainOptions{}.patience;
  double min_improvement = TrainOptions{}.min_improvement;
  std::string keep = "auto";
  bool shuffle = true;
  uint64_t seed = 1;
  // machine and files
  std::string backend = "auto";
  int64_t threads = 0;
  std::string model;
  std::string history;
  std::string history_json;
  std::string checkpoint;
  int64_t checkpoint_epochs = 0;
};

// Help texts made of the lists of formulas: what can be written, what a number is for.
std::string ActivationHelp();
std::string LossHelp();
std::string UpdateHelp();
std::string UpdateNumberHelp(std::string_view number);
std::string LearningRateHelp();
std::string Beta2Help();

/// Calls visit.Group(title) and visit(name, field, help) for every setting, in order. S is TrainSettings or const.
template <class S, class Visitor>
void VisitTrainSettings(S& s, Visitor&& visit) {
  visit.Group("Data");
  visit("data", s.data,
        "Training data: a CSV, .npy or IDX file, a folder of IDX files, or kddcup99:FOLDER; .gz is read as it is");
  visit("test", s.test, "Test data in a file of its own");
  visit("validation", s.validation, "Validation data in a file of its own");
  visit("target", s.target, "Target column(s) by name or number (-1: the last one); default: the last one");
  visit("drop", s.drop, "Columns to leave out, by name or number");
  visit("task", s.task, "auto, classification or regression; auto: by the values of the target");
  visit("header", s.header, "CSV: is the first line names? auto, yes or no");
  visit("separator", s.separator, "CSV: auto, comma, semicolon, tab, pipe or one character");
  visit("text-columns", s.text_columns, "CSV: columns to read as text although they look like numbers");
  visit("missing", s.missing, "Missing values: error, drop (the row) or mean (of the training rows)");
  visit("unseen", s.unseen,
        "Categories that training did not see: error, or zero (all zeros, counted; such classes count as wrong); auto: "
        "error, zero for kddcup99");
  visit("samples", s.samples, "Use only this many rows; 0: all");
  visit("random-samples", s.random_samples, "Choose those rows at random instead of the first ones");
  visit(
      "derive", s.derive,
      "Columns to compute, NAME=FUNCTION:COLUMN[:ARGUMENT]: previous, next, change, next_change, mean (along a series, "
      "argument: rows), ratio, difference (argument: a column), log, weekday, month, year");
  visit("series-by", s.series_by, "--derive: rows with the same value in this column are one series");
  visit("order-by", s.order_by, "--derive: the order within a series; default: that of the rows");
  visit("class-map", s.class_map,
        "Classes made of the target's values: VALUE=CLASS, *=CLASS for all others, or a known map: kddcup99-binary, "
        "kddcup99-categories");
  visit("split", s.split,
        "Shares of training, validation and test rows, summing to 1; default: 5:1:0 where the test data is given "
        "apart, 0.6,0.2,0.2 otherwise");
  visit("stratify", s.stratify, "Split every class by those shares");
  visit("split-by", s.split_by,
        "Split by this column instead of at random: numbers and dates in their order, the last ones are the test; text "
        "with whole categories together");
  visit("encode", s.encode, "Text columns: onehot or ordinal");
  visit("scale", s.scale,
        "Number columns: auto (images /255, others standardize), none, standardize, minmax or log (sign(x) ln(1+|x|), "
        "standardized)");
  visit("target-scale", s.target_scale, "Regression targets: auto (standardize), none, standardize, minmax or log");
  visit("target-values", s.target_values,
        "Classification targets: value of the other classes and of the true one; default 0,1, and -1,1 for tanh and "
        "bipolar_sigmoid outputs");
  visit("class-weights", s.class_weights, "balanced, or name=weight,...");
  visit("weight-column", s.weight_column, "Column with a weight per row");
  visit("baseline", s.baseline,
        "Regression: the naive guess that the test is compared with, a column (yesterday's price) or a number");
  visit("cost-matrix", s.cost_matrix,
        "Classification: what each mistake costs on the test rows, a CSV file (a class and its costs a line, the "
        "header names the predicted classes) or kddcup99");
  visit.Group("Network");
  visit("hidden", s.hidden, "Neurons of the hidden layers, input side first; 0 alone: none");
  visit("activation", s.activation,
        ("Of the hidden layers, with parameters where the defaults will not do: " + ActivationHelp()).c_str());
  visit("output-activation", s.output_activation,
        "Of the output layer; auto: what the loss asks for (mse: the hidden layers' for classes, identity for values)");
  visit(
      "layers", s.layers,
      "All layers in full instead, for example dot-tanh:256,dot-softmax:10. Synapses: dot, and the distances l1, l2, "
      "l2sq with activations such as triangle(radius=12), -radius behind it trains a radius for every neuron; rbf is "
      "l1-triangle, mul is dot-tanh; a first layer of distances starts at training rows, without a radius it takes one "
      "from their distances; auto as the last layer: the output layer that the target needs");
  visit("bias", s.bias, "dot neurons have a bias (a neuron in --layers can say otherwise: -bias, -nobias)");
  visit("gain", s.gain, "Gain of bipolar_sigmoid (2018 paper)");
  visit("threshold", s.threshold, "Threshold of bipolar_sigmoid (2018 paper)");
  visit("init", s.init,
        "Weights at the start: auto, glorot_uniform, glorot_normal, he_uniform, he_normal; auto: he_uniform for the "
        "relu family, else glorot_uniform");
  visit("dtype", s.dtype, "f32 or f64");
  visit("precision", s.precision,
        "Of the operands of products while training: exact; bf16 (backends cpu and cuda, dot layers in f32): faster "
        "where the processor multiplies such, with parameters and sums still in f32; fast: TF32 on backend cuda, exact "
        "elsewhere");
  visit.Group("Training");
  visit("loss", s.loss, (LossHelp() + "; auto: cross_entropy for classes, else mse").c_str());
  visit("label-smoothing", s.label_smoothing,
        "Classes: this share of the training targets is spread evenly over all classes; 0 to below 1");
  visit("optimizer", s.optimizer, UpdateHelp().c_str());
  visit("learning-rate", s.learning_rate, LearningRateHelp().c_str());
  visit("momentum", s.momentum, UpdateNumberHelp("momentum").c_str());
  visit("weight-decay", s.weight_decay, "The 2018 paper's regularisation factor");
  visit("beta1", s.beta1, UpdateNumberHelp("beta1").c_str());
  visit("beta2", s.beta2, Beta2Help().c_str());
  visit("epsilon", s.epsilon, UpdateNumberHelp("epsilon").c_str());
  visit("clip-norm", s.clip_norm,
        "Largest L2 norm of the gradient of a step, all parameters together: longer ones are shortened; 0: any");
  visit("epochs", s.epochs, "Passes over the training rows");
  visit("batch", s.batch, "Samples a step");
  visit("schedule", s.schedule, "Learning rate over time: constant, step, cosine or plateau");
  visit("schedule-factor", s.schedule_factor, "step, plateau: multiplier; cosine: final share");
  visit("schedule-epochs", s.schedule_epochs, "step: epochs between multiplications");
  visit("schedule-patience", s.schedule_patience, "plateau: epochs without improvement before a multiplication");
  visit("patience", s.patience, "Stop after this many epochs without a better validation loss; 0: never");
  visit("min-improvement", s.min_improvement, "What counts as a better loss");
  visit("keep", s.keep, "Weights kept at the end: auto (best with --patience, else last), best or last");
  visit("shuffle", s.shuffle, "Reorder the rows every epoch");
  visit("seed", s.seed, "Of the weights, the split and the order of rows");
  visit.Group("Machine and files");
  visit("backend", s.backend, BackendNamesText().c_str());
  visit("threads", s.threads, "Threads to use; 0: all cores");
  visit("model", s.model, "Write the trained model to this file");
  visit("history", s.history, "Write the history to this file as CSV");
  visit("history-json", s.history_json, "Write the history to this file as JSON");
  visit("checkpoint", s.checkpoint,
        "Keep a checkpoint in this file, written at Ctrl-C and as --checkpoint-epochs says");
  visit("checkpoint-epochs", s.checkpoint_epochs, "Epochs from one checkpoint to the next; 0: only at Ctrl-C");
}

/// By name; optional settings that are not set are null.
nlohmann::json ToJson(const TrainSettings& settings);
/// Names that are absent keep their defaults. Throws Error(kBadModel) naming a setting of the wrong type.
TrainSettings TrainSettingsFromJson(const nlohmann::json& node);

// What the settings mean for each part of the library. All throw Error(kInvalidArgument) naming the setting.
ReadOptions ReadOptionsFrom(const TrainSettings& settings);
PreprocessOptions PreprocessOptionsFrom(const TrainSettings& settings);
TargetForm TargetFormFrom(const TrainSettings& settings, const Activation& output, bool single_output);
SplitOptions SplitOptionsFrom(const TrainSettings& settings, bool test_given, bool validation_given);
TrainOptions TrainOptionsFrom(const TrainSettings& settings, Loss loss);
WeightOptions WeightOptionsFrom(const TrainSettings& settings);

/// The network's shape besides its inputs and outputs, resolved from loss, activations and task.
struct OutputPlan {
  Loss loss;
  Activation activation;  // of the output layer
  bool single_output;     // two classes, one output
};
/// `classes`: how many there are, 0 for regression.
OutputPlan PlanOutput(const TrainSettings& settings, int64_t classes, std::span<const Activation> custom);
/// All layers for `inputs` features and `outputs` target values.
std::vector<LayerSpec> LayersFrom(const TrainSettings& settings, const OutputPlan& plan, int64_t inputs,
                                  int64_t outputs, std::span<const Activation> custom);
Initialization InitializationFrom(const TrainSettings& settings, std::span<const LayerSpec> layers);
/// The activation `text` with gain and threshold applied where it has them.
Activation ActivationFrom(const TrainSettings& settings, const std::string& text, std::span<const Activation> custom);
Precision PrecisionFrom(const TrainSettings& settings);

/// By their names in settings. Throw Error(kInvalidArgument) naming the flag.
MissingPolicy ParseMissing(const std::string& name);
UnseenPolicy ParseUnseen(const std::string& name);

/// What can be chosen for a setting that takes one of a few names ("optimizer"); empty for all others. Activations with
/// parameters and separators of one character go beyond the list.
std::vector<std::string> SettingChoices(std::string_view name);

/// Every file that training with these settings reads and writes, by its flag; those not given with an empty path.
FileUse FilesOf(const TrainSettings& settings);
/// --checkpoint, or beside --model where none is given; "" for neither.
std::string CheckpointPathOf(const TrainSettings& settings);

/// Throws Error(kInvalidArgument) for settings that contradict each other or cannot be parsed, without reading any
/// data.
void ValidateSettings(const TrainSettings& settings, std::span<const Activation> custom = {});

}  // namespace lamina
