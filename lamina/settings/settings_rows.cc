// The rows of TrainSettings.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/model/metrics.h"
#include "lamina/nn/routes.h"
#include "lamina/settings/embedding.h"
#include "lamina/settings/layers_text.h"
#include "lamina/settings/method_rows.h"
#include "lamina/settings/quality_rows.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/setting_names.h"
#include "lamina/settings/settings.h"
#include "lamina/settings/training_rows.h"
#include "lamina/settings/validation.h"

namespace lamina {
namespace {

using namespace setting_names;  // NOLINT(google-build-using-namespace): its own lists
using S = TrainSettings;
using Row = Setting<S>;

// Help texts that follow the library's lists of formulas.

std::string ActivationHelp() {
  std::string text;
  for (const std::string& name : ActivationNames()) {
    if (const Activation activation(name); !activation.is_softmax()) {
      text += (text.empty() ? "" : ", ") + activation.Text();
    }
  }
  return text;
}

constexpr NumberRange kTextInputs{.low = 1, .high = 1 << 20};
constexpr NumberRange kBins{.low = 1, .high = 4096};

bool MayBeNumbers(const S& s) { return s.task != "classification"; }
bool HasWaves(const S& s) { return s.number_embedding != NumberEmbeddingNames().front(); }
bool HasDerived(const S& s) { return !s.derive.empty(); }
bool OutputIsOpen(const S& s) { return s.layers.empty() || EndsInAuto(s.layers); }
// With --layers it is written into the activation.
bool HasBipolar(const S& s) {
  const std::string_view bipolar = formulas::BipolarSigmoid::kName;
  return s.layers.empty() && (s.activation == bipolar || s.output_activation == bipolar);
}
constexpr std::string_view kBipolarText =
    "For the activation bipolar_sigmoid of all hidden layers or of the output. With --layers, write it into the "
    "activation: bipolar_sigmoid(gain=2,threshold=0)";

std::vector<Row> DataRows() {
  constexpr InTrials kSame = InTrials::kSame;
  constexpr InTrials kOutside = InTrials::kOutside;
  return {
      Row("data", &S::data,
          "Training data: a CSV, .xlsx, .ods, .npy or IDX file, a folder of IDX files, or kddcup99:FOLDER; .gz is read "
          "as it is",
          {.trials = kSame,
           .after_checkpoint = true,
           .reads = &DataFiles,
           .basic = "The table: a CSV, .xlsx, .ods or .npy file"}),
      Row("test", &S::test, "Test data in a file of its own",
          {.trials = kSame,
           .after_checkpoint = true,
           .reads = &DataFiles,
           .basic = "Test rows in a file of their own"}),
      Row("validation", &S::validation, "Validation data in a file of its own",
          {.trials = kSame, .after_checkpoint = true, .reads = &DataFiles}),
      Row("target", &S::target, "Target column(s) by name or number (-1: the last one); default: the last one",
          {.trials = kSame, .of_columns = true, .basic = "Column to predict; default: the last one"}),
      Row("drop", &S::drop, "Columns to leave out, by name or number",
          {.of_columns = true, .basic = "Columns to leave out"}),
      Row("use", &S::use,
          "Columns to use although they look useless: the same value everywhere, identifiers, free text (others of "
          "that "
          "kind are left out, which is said)",
          {.of_columns = true}),
      Row("select", &S::select,
          "Which columns of numbers are inputs: all; telling: those that tell of the target by themselves in the "
          "training rows (F test, one false one in ten); auto: telling where there are more than twice as many of them "
          "as training rows",
          {.choices = &Names<kSelections>, .of_columns = true}),
      Row("task", &S::task, "auto, classification or regression; auto: by the values of the target",
          {.choices = &Names<kTasks>, .trials = kSame, .basic = "classification or regression; auto: by the target"}),
      Row("header", &S::header, "CSV: is the first line names? auto, yes or no",
          {.choices = &Names<kHeaders>, .reads_file = true}),
      Row("header-line", &S::header_line,
          "CSV and books: the line (of a sheet: the row) that holds the names, from 1; 0: the first below titles",
          {.range = kNotNegative, .reads_file = true}),
      Row("around", &S::around,
          "CSV and books: lines around the table, which are titles above it, units below the names, sums and notes at "
          "the end: skip (which is said) or keep",
          {.choices = &Names<kArounds>, .reads_file = true}),
      Row("separator", &S::separator,
          "CSV: auto, comma, semicolon, tab, pipe, space (any number of them) or one character",
          {.choices = &Names<kSeparators>, .more_choices = true, .reads_file = true}),
      Row("decimal", &S::decimal,
          "CSV: how numbers are written: point (1,234.5), comma (1.234,5), or auto: as each column shows",
          {.choices = &Names<kDecimals>, .reads_file = true}),
      Row("date-order", &S::date_order,
          "CSV: of dates whose year is not first: day-first (31/12/2024), month-first (12/31/2024), or auto: as each "
          "column shows",
          {.choices = &Names<kDateOrders>, .reads_file = true}),
      Row("text-columns", &S::text_columns, "CSV: columns to read as text although they look like numbers",
          {.reads_file = true, .of_columns = true}),
      Row("missing-values", &S::missing_values,
          "CSV: more cells that mean a missing value, such as -999; known are empty ones, NA, N/A, NULL, None, NaN, -, "
          "--, ., ? and Excel's errors, in small and capital letters",
          {.reads_file = true}),
      Row("strict", &S::strict,
          "CSV: a cell that is no number, in a column of numbers, is an error; else it is a missing value, which is "
          "said",
          {.reads_file = true}),
      Row("encoding", &S::encoding,
          "CSV: of the text, as iconv names them; auto: UTF-8, UTF-16 by its mark, else windows-1252",
          {.reads_file = true}),
      Row("sheet", &S::sheet, "A book (.xlsx, .ods): the sheet to read; default: the first that is not hidden",
          {.reads_file = true}),
      Row("missing", &S::missing,
          "Missing values of inputs: mean or median (of the training rows; the most frequent category of text; "
          "counted), drop (the row) or error. Rows without a target are left out, but for error",
          {.choices = &Names<kMissing>}),
      Row("missing-indicator", &S::missing_indicator,
          "One more input for every column that lacks values in training rows, 1 where the value is missing: yes, no, "
          "or "
          "auto: where they are a hundredth of 500 rows or more",
          {.choices = &Names<kHeaders>,
           .effect = [](const S& s) { return s.missing == "mean" || s.missing == "median"; },
           .effect_text = "Where missing values are filled in",
           .was_switch = true}),
      Row("unseen", &S::unseen,
          "Categories that training did not see: zero (all zeros, counted; such classes count as wrong) or error",
          {.choices = &Names<kUnseen>}),
      Row("samples", &S::samples, "Use only this many rows; 0: all",
          {.range = kNotNegative, .trials = kSame, .of_columns = true}),
      Row("random-samples", &S::random_samples, "Choose those rows at random instead of the first ones",
          {.effect = [](const S& s) { return s.samples != 0; },
           .effect_text = "For fewer samples than all",
           .trials = kSame}),
      Row("memory", &S::memory,
          "Of encoded data (lamina data encode): resident memory for the run, like 300M. Rows that do not fit are read "
          "in windows, and shuffled within them; empty: all at once",
          {.trials = kOutside, .after_checkpoint = true}),
      Row("derive", &S::derive,
          "Columns to compute, NAME=FUNCTION:COLUMN[:ARGUMENT]: previous, next, change, next_change, mean (along a "
          "series, argument: rows), ratio, difference (argument: a column), log, weekday, month, year",
          {.of_columns = true}),
      Row("series-by", &S::series_by, "--derive: rows with the same value in this column are one series",
          {.effect = &HasDerived, .of_columns = true}),
      Row("order-by", &S::order_by, "--derive: the order within a series; default: that of the rows",
          {.effect = &HasDerived, .of_columns = true}),
      Row("class-map", &S::class_map,
          "Classes made of the target's values: VALUE=CLASS, *=CLASS for all others, or a known map: kddcup99-binary, "
          "kddcup99-categories",
          {.effect = &MayBeClasses, .trials = kSame, .of_columns = true}),
      Row("split", &S::split,
          "Shares of training, validation and test rows, summing to 1; default: 5:1:0 where the test data is given "
          "apart, 0.6,0.2,0.2 otherwise",
          {.range = kShare,
           .trials = kSame,
           .of_columns = true,
           .basic = "Shares of training, validation and test rows"}),
      Row("stratify", &S::stratify, "Split every class by those shares",
          {.effect = &MayBeClasses, .effect_text = "For classes", .trials = kSame}),
      Row("split-by", &S::split_by,
          "Split by this column instead of at random: numbers and dates in their order, the last ones are the test; "
          "text with whole categories together",
          {.trials = kSame, .of_columns = true}),
      Row("encode", &S::encode, "Text columns: onehot or ordinal", {.choices = &Names<kEncodings>}),
      Row("min-count", &S::min_count,
          "One-hot categories of fewer training rows than this count as one, other, which unseen ones then are, too",
          {.range = kAtLeastOne, .effect = [](const S& s) { return s.encode == "onehot"; }}),
      Row("max-categories", &S::max_categories,
          "One-hot inputs of one column: the most frequent categories have their own, all others count as one, other",
          {.range = kAtLeastOne, .effect = [](const S& s) { return s.encode == "onehot"; }}),
      Row("text", &S::text,
          "Free text (a different one in more than every second row): leave-out, or hash: its words and pairs of "
          "neighbouring words, hashed into --text-inputs inputs",
          {.choices = &Names<kTextEncodings>}),
      Row("text-inputs", &S::text_inputs, "Inputs of each column of free text",
          {.range = kTextInputs, .effect = [](const S& s) { return s.text == "hash"; }}),
      Row("dates", &S::dates,
          "Date columns: days (since 1970-01-01, scaled), or calendar: beside them where in the year, the week and the "
          "day it is, as sine and cosine, where the training rows cover such a period",
          {.choices = &Names<kDateEncodings>}),
      Row("numbers", &S::numbers,
          "Number columns: scaled as --scale says, or ple: piecewise linear, an input a bin between quantiles of the "
          "training rows (Gorishniy et al. 2022)",
          {.choices = &Names<kNumberEncodings>}),
      Row("bins", &S::bins, "Bins of a column, at most: as many as different values allow",
          {.range = kBins,
           .effect = [](const S& s) { return s.numbers == "ple"; },
           .effect_text = "For --numbers ple"}),
      Row("scale", &S::scale,
          "Number columns: auto (images /255, others standardize), none, standardize, minmax, log (sign(x) "
          "ln(1+|x|), standardized) or robust (less the median, over the span of the middle half of the rows, "
          "smoothly kept between -3 and 3) or size (over the root of the mean square)",
          {.choices = &Names<kScalings>}),
      Row("target-scale", &S::target_scale,
          "Regression targets: auto (standardize), none, standardize, minmax, log, robust (without limits) or size "
          "(auto for losses of counts and amounts)",
          {.choices = &Names<kScalings>, .effect = &MayBeNumbers, .shapes_loss = true}),
      Row("target-values", &S::target_values,
          "Classification targets: value of the other classes and of the true one; default 0,1, and -1,1 for tanh and "
          "bipolar_sigmoid outputs",
          {.range = kAnyNumber, .effect = &MayBeClasses, .shapes_loss = true}),
      Row("class-weights", &S::class_weights, "balanced, or name=weight,...",
          {.effect = &MayBeClasses, .effect_text = "For classes", .of_columns = true}),
      Row("weight-column", &S::weight_column, "Column with a weight per row", {.of_columns = true}),
      Row("baseline", &S::baseline,
          "Regression: the naive guess that the test is compared with, a column (yesterday's price) or a number",
          {.effect = &MayBeNumbers, .trials = kSame, .of_columns = true}),
      Row("cost-matrix", &S::cost_matrix,
          "Classification: what each mistake costs on the test rows, a CSV file (a class and its costs a line, the "
          "header names the predicted classes) or kddcup99",
          {.effect = &MayBeClasses,
           .trials = kSame,
           .after_checkpoint = true,
           .of_columns = true,
           .reads = [](const std::string& text) { return std::vector<std::string>{CostMatrix::FileOf(text)}; }})};
}

std::vector<Row> NetworkRows() {
  return {
      Row("recipe", &S::recipe,
          "What settings of network and training are where they are open (auto): plain, one quick layer, or tabular, "
          "three layers trained as RealMLP-TD-S, which answers better from tables and takes longer; auto: tabular for "
          "tables, plain for images and with what tabular cannot do (it is said): lbfgs, shards, layers of distances",
          {.choices = &RecipeNames, .basic = "plain is quick, tabular answers better; auto"}),
      Row("hidden", &S::hidden,
          "Neurons of the hidden layers, input side first; 0 alone: none; auto: by the recipe (plain: 128)",
          {.range = kNotNegative,
           .effect = [](const S& s) { return s.layers.empty(); },
           .basic = "Neurons of the hidden layers, such as 64,32"}),
      Row("activation", &S::activation,
          "Of the hidden layers, with parameters where the defaults will not do: " + ActivationHelp() +
              "; auto: by the recipe (plain: relu)",
          {.choices = &AutoAnd<&ActivationNames>, .more_choices = true, .effect = &OutputIsOpen}),
      Row("output-activation", &S::output_activation,
          "Of the output layer; auto: what the loss asks for (mse: the hidden layers' for classes, identity for "
          "values)",
          {.choices = &AutoAnd<&ActivationNames>,
           .more_choices = true,
           .effect = &OutputIsOpen,
           .effect_text = "Where --layers does not say the output layer"}),
      Row("layers", &S::layers,
          "All layers in full instead, for example dot-tanh:256,dot-softmax:10. Synapses: dot, and the distances l1, "
          "l2, l2sq with activations such as triangle(radius=12), -radius behind it trains a radius for every neuron; "
          "rbf is l1-triangle, mul is dot-tanh; a first layer of distances starts at training rows, without a radius "
          "it takes one from their distances; auto as the last layer: the output layer that the target needs"),
      Row("bias", &S::bias, "dot neurons have a bias (a neuron in --layers can say otherwise: -bias, -nobias)"),
      Row("gain", &S::gain, "Gain of bipolar_sigmoid (2018 paper)",
          {.range = kNotZero, .effect = &HasBipolar, .effect_text = kBipolarText}),
      Row("threshold", &S::threshold, "Threshold of bipolar_sigmoid (2018 paper)",
          {.range = kAnyNumber, .effect = &HasBipolar, .effect_text = kBipolarText}),
      Row("init", &S::init,
          "Weights at the start: glorot_uniform, glorot_normal, he_uniform, he_normal, or ntk (normal, standard "
          "deviation 1 / sqrt(inputs), biases 1); auto: ntk with --parametrization ntk, he_uniform for the relu family "
          "in networks of more than three layers, else glorot_uniform",
          {.choices = &AutoAnd<&InitializationNames>}),
      Row("zero-last", &S::zero_last, "The output layer starts at zero: yes, no, or auto: by the recipe (plain: no)",
          {.choices = &Names<kHeaders>}),
      Row("residual", &S::residual,
          "Hidden layers with as many neurons as the layer before add their input to their output; longer blocks are "
          "written --layers \"residual(dot-relu:64,dot-identity:64),auto\"",
          {}),
      Row("members", &S::members,
          "That many networks in one that share the hidden layers (TabM-mini): each has factors for the inputs and an "
          "output layer of its own, answers are their mean; 1: one network",
          {.range = NumberRange{.low = 1, .high = 4096}}),
      Row("parametrization", &S::parametrization,
          "standard, or ntk: dot layers learn at the rate divided by sqrt(inputs), from weights of --init ntk; auto: "
          "by "
          "the recipe (plain: standard)",
          {.choices = &AutoAnd<&ParametrizationNames>}),
      Row("number-embedding", &S::number_embedding,
          "Inputs that are numbers, before the hidden layers: none; pbld: each beside --embedding-size numbers, which "
          "trained sine waves of it are mixed to; auto: by the recipe (none)",
          {.choices = &AutoAnd<&NumberEmbeddingNames>}),
      Row("waves", &S::waves, "Waves of a number", {.range = NumberRange{.low = 1, .high = 1024}, .effect = &HasWaves}),
      Row("wave-scale", &S::wave_scale,
          "Frequencies of the waves at the start, in turns per unit of the encoded number: the standard deviation",
          {.range = kPositive, .effect = &HasWaves, .logarithmic = true}),
      Row("embedding-size", &S::embedding_size, "Numbers that the waves of a number are mixed to",
          {.range = NumberRange{.low = 1, .high = 1024},
           .effect = &HasWaves,
           .effect_text = "For --number-embedding pbld"}),
      Row("category-embedding", &S::category_embedding,
          "One-hot columns of more categories than this become so many trained numbers before the hidden layers; 0: "
          "none; auto: by the recipe (plain: 0)",
          {.range = NumberRange{.low = 0, .high = 1024}}),
      Row("front-scale", &S::front_scale,
          "A factor is trained for every input, at this times the learning rate, and multiplied into the weights of "
          "the "
          "first layer, of dot neurons; 0: none; auto: by the recipe (plain: 0)",
          {.range = TrainRanges::front_scale}),
      Row("dtype", &S::dtype, "f32 or f64", {.choices = &Names<kTypes>}),
      Row("precision", &S::precision,
          "Of the operands of products while training: exact; bf16 (backends cpu and cuda, dot layers in f32): faster "
          "where the processor multiplies such, with parameters and sums still in f32; fast: TF32 on backend cuda, two "
          "bf16 a number on AMX tiles, exact elsewhere; bf16x3: three bf16 a number on AMX tiles, as good as exact for "
          "finite numbers, and exact elsewhere; auto: what is faster here, for classes bf16, else fast, for numbers "
          "bf16x3",
          {.choices = &AutoAnd<&Names<kPrecisions>>, .after_checkpoint = true})};
}

std::vector<Row> MachineRows() {
  constexpr InTrials kOutside = InTrials::kOutside;
  return {
      Row("backend", &S::backend, BackendNamesText(), {.choices = &BackendNames, .after_checkpoint = true}),
      Row("threads", &S::threads, "Threads to use; 0: all cores",
          {.range = kThreadCounts, .trials = kOutside, .after_checkpoint = true}),
      Row("model", &S::model, "Write the trained model to this file",
          {.trials = kOutside,
           .after_checkpoint = true,
           .writes = true,
           .basic = "Write the trained model to this file"}),
      Row("overwrite", &S::overwrite,
          "Replace the file of --model where it holds a model of other data or of another target (one of the same is "
          "always replaced), and that of --checkpoint where it is no checkpoint",
          {.trials = kOutside, .after_checkpoint = true, .decides_writing = true}),
      Row("history", &S::history, "Write the history to this file as CSV",
          {.trials = kOutside, .after_checkpoint = true, .writes = true}),
      Row("history-json", &S::history_json, "Write the history to this file as JSON",
          {.trials = kOutside, .after_checkpoint = true, .writes = true}),
      Row("checkpoint", &S::checkpoint,
          "Keep a checkpoint in this file, written at Ctrl-C and as --checkpoint-epochs says",
          {.trials = kOutside, .after_checkpoint = true, .writes = true}),
      Row("checkpoint-epochs", &S::checkpoint_epochs, "Epochs from one checkpoint to the next; 0: only at Ctrl-C",
          {.range = TrainRanges::checkpoint_epochs,
           .effect = [](const S& s) { return !CheckpointPathOf(s).empty(); },
           .trials = kOutside,
           .after_checkpoint = true})};
}

}  // namespace

template <>
std::span<const Setting<TrainSettings>> SettingRows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all = JoinGroups<S>({{kDataGroup, DataRows()},
                                          {kNetworkGroup, NetworkRows()},
                                          {kMethodGroup, MethodRows()},
                                          {kTrainingGroup, TrainingRows()},
                                          {kQualityGroup, QualityRows()},
                                          {kMachineGroup, MachineRows()}});
    for (Row& row : all) {
      row.help += RefusalsText(row.name);
    }
    return all;
  }();
  return rows;
}

}  // namespace lamina
