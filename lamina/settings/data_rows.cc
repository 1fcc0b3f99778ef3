// The table: how it is read, split and encoded.
#include "lamina/settings/data_rows.h"

#include <string>
#include <vector>

#include "lamina/data/encode/soft_targets.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/cost_matrix.h"
#include "lamina/settings/setting_names.h"
#include "lamina/settings/training_rows.h"
#include "lamina/settings/validation.h"

namespace lamina {
namespace {

using namespace setting_names;  // NOLINT(google-build-using-namespace): its own lists
using S = TrainSettings;
using Row = Setting<S>;

constexpr InTrials kSame = InTrials::kSame;
constexpr InTrials kOutside = InTrials::kOutside;
constexpr NumberRange kTextInputs{.low = 1, .high = 1 << 20};
constexpr NumberRange kBins{.low = 1, .high = 4096};

bool MayBeNumbers(const S& s) { return s.task != "classification"; }
bool HasDerived(const S& s) { return !s.derive.empty(); }

// What is read and what is to be predicted.
std::vector<Row> TableRows() {
  return {
      Row("data", &S::data,
          "Training data: a CSV, .xlsx, .ods, .npy or IDX file (also .gz), a folder of IDX files, or kddcup99:FOLDER",
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
          "Columns to use although they look useless: others of one value, identifiers and free text are left out, "
          "with a note",
          {.of_columns = true}),
      Row("select", &S::select,
          "Which number columns are inputs: all; telling: those that predict the target alone (F test, one false one "
          "in ten); auto: telling where they are more than twice as many as the training rows",
          {.choices = &Names<kSelections>, .of_columns = true}),
      Row("task", &S::task, "auto, classification or regression; auto: by the target's values",
          {.choices = &Names<kTasks>, .trials = kSame, .basic = "classification or regression; auto: by the target"})};
}

// How a file's text becomes cells.
std::vector<Row> ReadingRows() {
  return {
      Row("header", &S::header, "CSV: whether the first line holds the names: auto, yes or no",
          {.choices = &Names<kHeaders>, .reads_file = true}),
      Row("header-line", &S::header_line,
          "CSV and workbooks: the line or row that holds the names, from 1; 0: the first one below titles",
          {.range = kNotNegative, .reads_file = true}),
      Row("around", &S::around,
          "CSV and workbooks: titles above the table, units below the names, sums and notes at the end: skip (with a "
          "note) or keep",
          {.choices = &Names<kArounds>, .reads_file = true}),
      Row("separator", &S::separator,
          "CSV: auto, comma, semicolon, tab, pipe, space (any number of them) or one character",
          {.choices = &Names<kSeparators>, .more_choices = true, .reads_file = true}),
      Row("decimal", &S::decimal,
          "CSV: how numbers are written: point (1,234.5), comma (1.234,5), or auto: as each column shows",
          {.choices = &Names<kDecimals>, .reads_file = true}),
      Row("date-order", &S::date_order,
          "CSV: dates that do not begin with the year: day-first (31/12/2024), month-first (12/31/2024), or auto: as "
          "each column shows",
          {.choices = &Names<kDateOrders>, .reads_file = true}),
      Row("text-columns", &S::text_columns, "CSV: columns to read as text although they look like numbers",
          {.reads_file = true, .of_columns = true}),
      Row("missing-values", &S::missing_values,
          "CSV: more marks of a missing value, such as -999. Known, in any case: an empty cell, NA, N/A, NULL, None, "
          "NaN, -, --, ., ? and Excel's errors",
          {.reads_file = true}),
      Row("strict", &S::strict,
          "CSV: a cell that is no number in a column of numbers is an error, instead of a missing value with a note",
          {.reads_file = true}),
      Row("encoding", &S::encoding,
          "CSV: encoding, by its name in iconv; auto: UTF-8, UTF-16 by its mark, else windows-1252",
          {.reads_file = true}),
      Row("sheet", &S::sheet, "Workbook (.xlsx, .ods): the sheet to read; default: the first visible one",
          {.reads_file = true})};
}

std::vector<Row> GapRows() {
  return {Row("missing", &S::missing,
              "Missing inputs. mean or median of the training rows fills them in (text: the most frequent category), "
              "with a note; drop leaves the row out; error ends the run. Rows without a target are left out, except "
              "with error",
              {.choices = &Names<kMissing>}),
          Row("missing-indicator", &S::missing_indicator,
              "One more input for every column that lacks values in training rows, 1 where they are missing: yes, "
              "no, or auto: where at least 1 % of 500 training rows or more lack it",
              {.choices = &Names<kHeaders>,
               .effect = [](const S& s) { return s.missing == "mean" || s.missing == "median"; },
               .effect_text = "Where missing values are filled in",
               .was_switch = true}),
          Row("unseen", &S::unseen,
              "Categories that training did not see: zero (all zeros, counted; such classes count as wrong) or error",
              {.choices = &Names<kUnseen>})};
}

// How many of the rows, and how many at once.
std::vector<Row> SampleRows() {
  return {Row("samples", &S::samples, "Use only this many rows; 0: all",
              {.range = kNotNegative, .trials = kSame, .of_columns = true}),
          Row("random-samples", &S::random_samples, "Choose those rows at random instead of the first ones",
              {.effect = [](const S& s) { return s.samples != 0; },
               .effect_text = "For fewer samples than all",
               .trials = kSame}),
          Row("memory", &S::memory,
              "Encoded data (lamina data encode): resident memory for the run, such as 300M. Rows beyond it are read "
              "in windows, and shuffled within them; empty: all at once",
              {.trials = kOutside, .after_checkpoint = true})};
}

// Columns and classes that are computed.
std::vector<Row> DerivedRows() {
  return {
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
          {.effect = &MayBeClasses, .trials = kSame, .of_columns = true})};
}

std::vector<Row> SplitRows() {
  return {Row("split", &S::split,
              "Shares of training, validation and test rows, of sum 1; default: 0.6,0.2,0.2, or 5:1:0 beside "
              "separate test data",
              {.range = kShare,
               .trials = kSame,
               .of_columns = true,
               .basic = "Shares of training, validation and test rows"}),
          Row("stratify", &S::stratify, "Split each class by these shares",
              {.effect = &MayBeClasses, .effect_text = "For classes", .trials = kSame}),
          Row("split-by", &S::split_by,
              "Split by this column, not at random. Text: whole categories stay together. Numbers and dates: in "
              "their order, the last rows are the test. --method rfm then leaves out whole categories, and answers "
              "ordered rows by earlier ones",
              {.trials = kSame, .of_columns = true})};
}

// How texts, dates and numbers become inputs.
std::vector<Row> EncodingRows() {
  return {
      Row("encode", &S::encode, "Text columns: onehot or ordinal", {.choices = &Names<kEncodings>}),
      Row("min-count", &S::min_count,
          "One-hot encoding: categories of fewer training rows share one input, other; unseen ones then do so, "
          "too; auto: by the recipe (plain: 1)",
          {.range = kAtLeastOne, .effect = [](const S& s) { return s.encode == "onehot"; }}),
      Row("max-categories", &S::max_categories,
          "One-hot encoding: inputs of one column. The most frequent categories have their own, all others share "
          "one, other",
          {.range = kAtLeastOne, .effect = [](const S& s) { return s.encode == "onehot"; }}),
      Row("text", &S::text,
          "Free text (different in more than every second row): leave-out; score: what words and pairs of "
          "neighboring words say of the target, as one input or one a class, learnt from other texts; hash: words "
          "hashed into --text-inputs inputs; auto: score, or hash where texts recur, for columns whose words say "
          "something about the target in the training rows, beside the other columns; not with --group and --split-by",
          {.choices = &Names<kTextEncodings>}),
      Row("text-inputs", &S::text_inputs,
          "Inputs of each column of hashed text; auto: 1,024 where the training rows have ten words on average, else "
          "256",
          {.range = kTextInputs, .effect = [](const S& s) { return s.text == "hash" || s.text == "auto"; }}),
      Row("dates", &S::dates,
          "Date columns: days (since 1970-01-01, scaled), or calendar: also the position in the year, the week "
          "and the day, as sine and cosine, where training rows cover such a period; auto: calendar, and days for "
          "networks of recipe plain",
          {.choices = &AutoAnd<&Names<kDateEncodings>>}),
      Row("codes", &S::codes,
          "Number columns whose values name something, such as a school or a product: each value of --min-count "
          "training rows or more has an input of its own, beside the number; none; default: those whose rows tell "
          "so, but for networks of recipe plain",
          {.of_columns = true}),
      Row("numbers", &S::numbers,
          "Number columns: scaled (by --scale), or ple: piecewise linear encoding, an input for each bin between "
          "quantiles of the training rows (Gorishniy et al. 2022)",
          {.choices = &Names<kNumberEncodings>}),
      Row("bins", &S::bins, "Most bins of a column; few different values have fewer",
          {.range = kBins,
           .effect = [](const S& s) { return s.numbers == "ple"; },
           .effect_text = "For --numbers ple"})};
}

std::vector<Row> ScaleRows() {
  return {Row("scale", &S::scale,
              "Number columns: auto (images: divided by 255, others: standardize), none, standardize, minmax, log "
              "(sign(x) ln(1+|x|), standardized), robust (minus the median, over the span of the middle half, "
              "smoothly kept between -3 and 3) or size (over the root mean square)",
              {.choices = &Names<kScalings>}),
          Row("target-scale", &S::target_scale,
              "Regression targets: auto (standardize), none, standardize, minmax, log, robust (without limits) or size "
              "(auto for losses of counts and amounts)",
              {.choices = &Names<kScalings>, .effect = &MayBeNumbers, .shapes_loss = true}),
          Row("target-values", &S::target_values,
              "Classification targets: value of the other classes and of the true one; default: 0,1, with tanh and "
              "bipolar_sigmoid outputs -1,1",
              {.range = kAnyNumber, .effect = &MayBeClasses, .shapes_loss = true})};
}

// What rows and mistakes count.
std::vector<Row> WeightRows() {
  return {Row("class-weights", &S::class_weights, "Weights of the classes in the loss: balanced, or name=weight,...",
              {.effect = &MayBeClasses, .effect_text = "For classes", .of_columns = true}),
          Row("weight-column", &S::weight_column, "Column with a weight for each row", {.of_columns = true}),
          Row(kSoftTargetSetting, &S::soft_target,
              "Columns of a teacher's answers, which training rows learn instead of their target: a probability for "
              "each class (p_a,p_b for classes a and b), or a value",
              {.trials = kSame, .of_columns = true}),
          Row("baseline", &S::baseline,
              "Regression: the naive guess that the test is compared with: a column (yesterday's price) or a number",
              {.effect = &MayBeNumbers, .trials = kSame, .of_columns = true}),
          Row("cost-matrix", &S::cost_matrix,
              "Classification: what each mistake costs on the test rows: kddcup99, or a CSV file with a line for "
              "each class, whose header names the predicted classes",
              {.effect = &MayBeClasses,
               .trials = kSame,
               .after_checkpoint = true,
               .of_columns = true,
               .reads = [](const std::string& text) { return std::vector<std::string>{CostMatrix::FileOf(text)}; }})};
}

}  // namespace

std::vector<Row> DataRows() {
  return JoinGroups<S>({{kDataGroup, TableRows()},
                        {kDataGroup, ReadingRows()},
                        {kDataGroup, GapRows()},
                        {kDataGroup, SampleRows()},
                        {kDataGroup, DerivedRows()},
                        {kDataGroup, SplitRows()},
                        {kDataGroup, EncodingRows()},
                        {kDataGroup, ScaleRows()},
                        {kDataGroup, WeightRows()}});
}

}  // namespace lamina
