// The columns of one table that a Preprocessor uses, found once: which rows can be encoded, and encoding them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/preprocessor.h"

namespace lamina {

/// What a table is bound for. Rows for a model may be taken in their order where their names differ (--by-position),
/// which errors then name.
enum class TableUse { kForModel, kForTraining };

/// Views both of its arguments. Immutable: any number of threads at once.
class BoundTable {
 public:
  /// The table has the fitted columns by name, in any order. If its columns have no names of their own
  /// (Table::has_names), it is taken by position, and needs the right number of columns. Text in a column that held
  /// numbers is read as numbers; what is none is missing. Targets may be absent. Derived columns are there (Prepare()).
  /// Throws Error for input columns that it lacks and images of another size.
  BoundTable(const Preprocessor& preprocessor, const Table& table, TableUse use = TableUse::kForModel);

  const Table& table() const { return table_; }
  const Preprocessor& preprocessor() const { return preprocessor_; }

  /// The table's column of preprocessor.inputs().columns()[index].
  const Column& InputColumn(size_t index) const { return *inputs_[index]; }

  /// Whether the target columns are there (so that evaluation is possible). Where they are not, or the column of the
  /// baseline is not, all below that need them throw Error(kNotFound).
  bool has_targets() const { return lacking_targets_.empty(); }

  /// Those of `rows` that can be encoded: all of them. kDropRow leaves out rows with missing values; kMean and kMedian
  /// leave out rows whose target (or baseline) is missing, as targets are not made up.
  std::vector<int64_t> UsableRows(std::span<const int64_t> rows, bool with_targets) const;
  /// Those of `rows` that have their targets (and the baseline).
  std::vector<int64_t> RowsWithTargets(std::span<const int64_t> rows) const;
  /// The first column for whose missing value a row is left out; "": none.
  std::string MissingColumn(int64_t row, bool with_targets) const;

  /// Inputs and targets of the usable ones of `rows`, as f32 or f64. Errors name file, line, column, value.
  Dataset Encode(std::span<const int64_t> rows, DType dtype, EncodeReport* report = nullptr) const;
  Dataset EncodeInputs(std::span<const int64_t> rows, DType dtype, EncodeReport* report = nullptr) const;
  /// Targets, labels and baseline only: features are rows × 0.
  Dataset EncodeTargets(std::span<const int64_t> rows, DType dtype, EncodeReport* report = nullptr) const;

 private:
  using Columns = std::vector<const Column*>;

  void BindByName(TableUse use);
  void BindByPosition();
  void RequireTargets() const;
  Columns TargetColumns() const;                   // and the baseline's
  Columns NeededColumns(bool with_targets) const;  // a row lacking one of them is left out
  Dataset EncodeParts(std::span<const int64_t> rows, bool inputs, bool targets, DType dtype,
                      EncodeReport* report) const;

  const Preprocessor& preprocessor_;
  const Table& table_;
  Columns inputs_;                                   // as preprocessor.inputs().columns()
  Columns targets_;                                  // as preprocessor.targets().columns(), where the table has them
  const Column* baseline_ = nullptr;                 // where it is a column that the table has
  std::vector<std::string> lacking_targets_;         // names
  std::vector<std::unique_ptr<const Column>> read_;  // numbers of text columns of the table
};

}  // namespace lamina
