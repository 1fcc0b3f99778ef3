// From raw columns to the numbers a network sees: encoding, scaling and missing values, fitted on training
// rows only and stored in the model file, so that prediction takes raw rows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/class_map.h"
#include "lamina/data/encode/derive.h"
#include "lamina/data/encode/fitted_column.h"
#include "lamina/data/files/table.h"

namespace lamina {

enum class Encoding { kOneHot, kOrdinal };
/// kAuto: images value/255, other numbers standardized; kLog: sign(x) ln(1 + |x|), standardized.
enum class Scaling { kAuto, kNone, kStandardize, kMinMax, kLog };
enum class MissingPolicy { kError, kDropRow, kMean };
enum class UnseenPolicy { kError, kZero };
enum class Task { kAuto, kClassification, kRegression };

struct PreprocessOptions {
  std::vector<std::string> targets;         // names or numbers; empty: the last column
  std::vector<std::string> drop_columns;    // names or numbers, not used as inputs
  Encoding encoding = Encoding::kOneHot;    // of text columns
  Scaling scaling = Scaling::kAuto;         // of number columns
  Scaling target_scaling = Scaling::kNone;  // regression targets (kAuto: standardize)
  MissingPolicy missing = MissingPolicy::kError;
  UnseenPolicy unseen = UnseenPolicy::kError;
  Task task = Task::kAuto;       // kAuto: classification if the target is text, or integers with at
                                 // most 100 values that occur twice or more on average (or 2 values)
  double positive_target = 1.0;  // value of the true class in classification targets
  double negative_target = 0.0;  // value of the others (-1 suits bipolar outputs)
  bool single_output = false;    // two classes as one output (binary_cross_entropy) instead of two
  DeriveOptions derive;          // what Prepare() adds to a table
  ClassMap class_map;            // of a classification target's values
  std::string baseline;  // regression: the naive guess, a column (not an input by that) or a number; empty: none
};

/// Counted while encoding, for the caller to report.
struct EncodeReport {
  int64_t unseen_values = 0;  // categories not seen in training, encoded as zeros
  std::vector<std::string> unseen_columns;
  /// Values of a classification target that training did not have. `class_name` is empty where the model has no class
  /// for it: such rows can only be answered wrongly.
  struct NewLabel {
    std::string name;
    std::string class_name;
    int64_t rows = 0;
  };
  std::vector<NewLabel> new_labels;  // most rows first
};

/// The encoded rows. Matrices are dense, rows × features.
struct Dataset {
  Matrix features;                     // rows × inputs
  Matrix targets;                      // rows × outputs
  std::vector<int32_t> labels;         // class index per row; classification only
  std::vector<int64_t> rows;           // the table row each came from
  std::vector<double> sample_weights;  // empty: all 1
  std::vector<double> baseline;        // the naive guess per row in units of the target; empty: none
  int64_t size() const { return features.rows(); }
};

class Preprocessor {
 public:
  /// Learns columns, categories and statistics from the given rows of `table`. `target_hint`: the target
  /// column when options.targets is empty and the format knows it. Throws Error for unknown columns, one
  /// class only, ...
  static Preprocessor Fit(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options);

  /// Adds the derived columns that fitting was told of; Fit() and the functions below expect a table that has them.
  /// Those that the table has already are left as they are.
  void Prepare(Table& table) const;

  /// Rows of `rows` that can be encoded: all; under kDropRow without those with missing values; under kMean without
  /// those whose derived target is missing, as that of the last row of a series always is.
  std::vector<int64_t> UsableRows(const Table& table, std::span<const int64_t> rows, bool with_targets) const;
  /// Rows of `rows` that have their targets (and the baseline).
  std::vector<int64_t> RowsWithTargets(const Table& table, std::span<const int64_t> rows) const;
  /// The first column for whose missing value a row is left out; "": none.
  std::string MissingColumn(const Table& table, int64_t row, bool with_targets) const;

  /// Encodes inputs and targets. The table must have the fitted columns by name, in any order; a table
  /// without any of the fitted names but with the right number of columns is taken by position. Errors name
  /// file, line, column, value.
  Dataset Encode(const Table& table, std::span<const int64_t> rows, DType dtype, EncodeReport* report = nullptr) const;
  /// Inputs only: the table may lack the target columns.
  Dataset EncodeInputs(const Table& table, std::span<const int64_t> rows, DType dtype,
                       EncodeReport* report = nullptr) const;
  /// Targets, labels and baseline only: features are rows × 0.
  Dataset EncodeTargets(const Table& table, std::span<const int64_t> rows, DType dtype,
                        EncodeReport* report = nullptr) const;
  /// True if `table` holds the target columns (so that evaluation is possible).
  bool HasTargets(const Table& table) const;

  /// Network outputs (rows × outputs) back to units of the target: undoes target scaling; in place;
  /// regression only.
  void UnscaleTargets(MatrixView outputs) const;
  /// Class index of one row of outputs: the largest; with a single output, which side of the middle; -1 where one is a
  /// NaN.
  int32_t ClassOf(std::span<const double> outputs) const;

  Task task() const;
  int64_t input_count() const;                           // network inputs
  int64_t output_count() const;                          // network outputs
  const std::vector<std::string>& class_names() const;   // classification
  const std::vector<std::string>& target_names() const;  // column names of the targets
  std::vector<std::string> InputNames() const;           // one per network input: "age", "protocol=tcp"
  bool is_image() const;                                 // the inputs are all pixels of an image
  int64_t image_height() const;
  int64_t image_width() const;
  /// The side of which a single output means class 1.
  double class_threshold() const;
  bool single_output() const { return single_output_; }
  /// Whether the largest output is the answer; else the smallest (positive_target below negative_target).
  bool highest_wins() const { return positive_target_ > negative_target_; }
  MissingPolicy missing() const { return missing_; }
  UnseenPolicy unseen() const { return unseen_; }
  /// Other policies than those of fitting. A mean that fitting did not measure (numbers that are not scaled, of a model
  /// that does not fill gaps) cannot be filled in: encoding then throws for the row that needs it.
  void set_missing(MissingPolicy policy) { missing_ = policy; }
  void set_unseen(UnseenPolicy policy) { unseen_ = policy; }
  /// What the naive guess is called: a column or a number; empty: none.
  const std::string& baseline() const { return baseline_.name; }
  /// Names of the columns, targets included, that were text: a reader must not take their values for numbers.
  std::vector<std::string> TextColumns() const;

  /// The fitted input columns, in the order of the network's inputs.
  const std::vector<FittedColumn>& inputs() const { return inputs_; }
  /// Those of the targets; classes have no scaling.
  const std::vector<FittedColumn>& targets() const { return targets_; }

  nlohmann::json ToJson() const;
  /// Throws Error(kBadModel) naming the missing or wrong field.
  static Preprocessor FromJson(const nlohmann::json& json);

 private:
  struct Binding;
  void FitInputs(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> columns,
                 const PreprocessOptions& options);
  void FitTargets(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> columns,
                  const PreprocessOptions& options);
  void FitClasses(const Table& table, const Column& column, std::span<const int64_t> rows);
  void FinishFit();
  void ReadAdditions(const nlohmann::json& json);
  bool BindsByPosition(const Table& table) const;
  void RequireImageSize(const Table& table) const;
  Binding Bind(const Table& table, bool with_targets) const;
  std::vector<const Column*> NeededColumns(const Binding& binding) const;  // a row lacking one of them is left out
  Binding BindByPosition(const Table& table) const;
  enum class Parts { kInputs, kTargets, kBoth };
  Dataset EncodeRows(const Table& table, std::span<const int64_t> rows, Parts parts, DType dtype,
                     EncodeReport* report) const;
  bool IsDerived(const std::string& name) const;
  std::vector<const Column*> DerivedOf(std::vector<const Column*> columns) const;
  bool KeepsMean(const FittedColumn& input) const;
  void EncodeFeatures(const Table& table, const Binding& binding, Dataset& dataset, EncodeReport& report) const;
  void EncodeClasses(const Table& table, const Column& column, Dataset& dataset, EncodeReport& report) const;
  void EncodeValues(const Table& table, const Binding& binding, Dataset& dataset) const;
  void FitBaseline(const Table& table, const PreprocessOptions& options);
  void EncodeBaseline(const Table& table, const Binding& binding, Dataset& dataset) const;

  Task task_ = Task::kRegression;
  MissingPolicy missing_ = MissingPolicy::kError;
  UnseenPolicy unseen_ = UnseenPolicy::kError;
  bool measured_means_ = false;  // of all inputs that can be missing
  double positive_target_ = 1;
  double negative_target_ = 0;
  bool single_output_ = false;
  int64_t column_count_ = 0;  // of the table fitted on
  int64_t image_height_ = 0;  // of the table fitted on; 0: not images
  int64_t image_width_ = 0;
  std::vector<FittedColumn> inputs_;
  std::vector<FittedColumn> targets_;
  std::vector<std::string> class_names_;
  std::vector<std::string> target_names_;  // those of targets_
  DeriveOptions derive_;
  ClassMap class_map_;
  FittedColumn baseline_;    // name empty: none; position -1: a number, `fill`
  int64_t input_count_ = 0;  // sum of the widths
};

/// An Error(kBadData) about one cell, with the file, line, column and value filled in.
[[noreturn]] void ThrowCell(const Table& table, int64_t row, const Column& column, const std::string& message,
                            const std::string& remedy);

/// Weight per training row: class weight ("balanced" or name -> weight) × sample weight column; normalised to
/// mean 1.
struct WeightOptions {
  bool balanced_classes = false;
  std::vector<std::pair<std::string, double>> class_weights;
  std::string weight_column;  // name or number in the table; must then be in drop_columns as well (Fit does this)
};
std::vector<double> SampleWeights(const Table& table, const Dataset& dataset, const Preprocessor& preprocessor,
                                  const WeightOptions& options);

}  // namespace lamina
