// Target columns to the numbers that a network shall answer, and its answers back: classes or values. What is learnt
// from training rows does not depend on the network; the form that its output asks for is set at any time.
#pragma once

#include <cstdint>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/fitted_column.h"
#include "lamina/data/encode/preprocess_options.h"

namespace lamina {

/// How targets are written for a network's output.
struct TargetForm {
  double positive = 1.0;          // value of the true class
  double negative = 0.0;          // value of the others (-1 suits bipolar outputs)
  bool single_output = false;     // two classes as one output (binary_cross_entropy) instead of two
  std::vector<double> quantiles;  // of numbers: an output each, ascending; none: one output a target

  bool operator==(const TargetForm&) const = default;
};

class TargetEncoder {
 public:
  /// From the columns at `positions`, which have no missing value in `rows`. Throws Error for one class only, text as
  /// a number to predict, ...
  static TargetEncoder Fit(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                           const PreprocessOptions& options);

  /// What the values of those rows make of options.task. Throws Error where it cannot be.
  static Task TaskOf(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                     const PreprocessOptions& options);

  /// The same targets in another form: nothing is fitted anew. Throws Error(kInvalidArgument) for one that does not
  /// suit the classes.
  TargetEncoder For(const TargetForm& form) const;
  const TargetForm& form() const { return form_; }

  Task task() const { return task_; }
  int64_t count() const;                                                        // network outputs
  const std::vector<std::string>& class_names() const { return class_names_; }  // empty: regression
  /// Classes have no scaling.
  const std::vector<FittedColumn>& columns() const { return columns_; }
  std::vector<std::string> names() const;  // of the columns
  /// Outputs of regression have a name each: "price", or "price q0.1".
  std::vector<std::string> answer_names() const;
  /// How the answer of an output is scaled; regression.
  const ColumnScaling& ScalingOf(int64_t output) const {
    return columns_[static_cast<size_t>(output / OutputsOfTarget())].scaling;
  }
  /// The quantile that the answer of an output is; 0: none.
  double LevelOf(int64_t output) const {
    return form_.quantiles.empty() ? 0 : form_.quantiles[static_cast<size_t>(output % OutputsOfTarget())];
  }
  /// Outputs of each column of regression.
  int64_t OutputsOfTarget() const { return form_.quantiles.empty() ? 1 : std::ssize(form_.quantiles); }
  /// The naive guess: its name is a column's or a number; empty: none.
  const FittedColumn& baseline() const { return baseline_; }
  /// Whether the naive guess is a column of the table.
  bool baseline_is_column() const { return !baseline_.name.empty() && baseline_.position >= 0; }

  /// Targets, labels and baseline of dataset.rows, in the type of dataset.features. `baseline`: null where it is no
  /// column. Throws Error naming file, line, column, value.
  void Encode(const Table& table, std::span<const Column* const> columns, const Column* baseline, UnseenPolicy unseen,
              Dataset& dataset, EncodeReport& report) const;
  /// Classes as rows × outputs; a label below 0 is none of them.
  Matrix TargetsOf(std::span<const int32_t> labels, DType dtype) const;
  /// The same of probabilities, rows × classes.
  Matrix TargetsOf(const Matrix& probabilities, DType dtype) const;
  /// Rows that these targets were encoded from, in this form: inputs are shared, nothing is encoded.
  Dataset InForm(const Dataset& dataset) const;

  /// Network outputs (rows × outputs) back to units of the target: undoes the scaling, in place; regression only.
  /// Quantiles of a row that cross are put in order.
  void Unscale(MatrixView outputs) const;
  /// Class index of one row of outputs: the largest; with a single output, which side of the middle; -1 where one is a
  /// NaN.
  int32_t ClassOf(std::span<const double> outputs) const;
  /// The side of which a single output means class 1.
  double class_threshold() const { return (form_.positive + form_.negative) / 2; }
  /// Whether the largest output is the answer; else the smallest.
  bool highest_wins() const { return form_.positive > form_.negative; }

  void AddTo(nlohmann::json& object) const;
  /// Throws Error(kBadModel) naming the missing or wrong field.
  static TargetEncoder FromJson(const nlohmann::json& object);

 private:
  void FitClasses(const Table& table, const Column& column, std::span<const int64_t> rows);
  void FitBaseline(const Table& table, const std::string& baseline);
  void EncodeClasses(const Table& table, const Column& column, UnseenPolicy unseen, Dataset& dataset,
                     EncodeReport& report) const;
  // A target's column for each of its outputs.
  Matrix Repeated(const Matrix& targets) const;
  void EncodeBaseline(const Table& table, const Column* column, Dataset& dataset) const;

  Task task_ = Task::kRegression;
  TargetForm form_;
  std::vector<FittedColumn> columns_;
  std::vector<std::string> class_names_;
  ClassMap class_map_;
  FittedColumn baseline_;  // name empty: none; position -1: a number, `fill`
};

}  // namespace lamina
