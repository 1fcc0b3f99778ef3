// Columns computed from others: logarithms, parts of dates, and steps along series (the previous day's price).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// Which columns to compute. A column is written NAME=FUNCTION:COLUMN or NAME=FUNCTION:COLUMN:ARGUMENT, with the
/// functions of DeriveFunctions(); later ones may use earlier ones.
struct DeriveOptions {
  std::vector<std::string> columns;
  std::string series_by;  // rows with the same value here are one series; empty: all rows are one
  std::string order_by;   // the order within a series; empty: that of the rows

  /// Whether `column` is one of them.
  bool Makes(std::string_view column) const;

  bool operator==(const DeriveOptions&) const = default;
};

struct DeriveFunction {
  std::string_view name;
  std::string_view argument;  // "", "[count]" or "column"
  std::string_view help;
  bool of_date = false;  // else of numbers
};
std::span<const DeriveFunction> DeriveFunctions();

/// One derived column, taken apart.
struct Derivation {
  std::string name;
  const DeriveFunction* function = nullptr;
  std::string column;
  std::string other;  // a second column
  int64_t count = 1;
};
/// Throws Error(kInvalidArgument) as ValidateDerive().
Derivation ParseDerivation(const std::string& text);

/// The name of the column that `text` ("NAME=FUNCTION:COLUMN") describes.
std::string DerivedName(std::string_view text);

/// The columns that a table must bring for the columns `needed`: for derived ones their sources, without repeats, in
/// the order of `needed`. Nothing where a function looks at other rows: then one row has no answer from its sources.
std::optional<std::vector<std::string>> RowSourcesOf(const DeriveOptions& options, std::span<const std::string> needed);

/// Throws Error(kInvalidArgument) for what cannot be read as a derived column, without a table.
void ValidateDerive(const DeriveOptions& options);

/// Throws Error(kInvalidArgument) where a function of dates is of another column of `table`, the training's.
void RequireDates(const Table& table, const DeriveOptions& options);

/// Appends the columns. Where a series has no such row (the previous of the first) the value is missing. A column whose
/// sources are absent is left out where its name is in `optional` (targets, in data without answers). Throws Error.
void DeriveColumns(Table& table, const DeriveOptions& options, std::span<const std::string> optional = {});

}  // namespace lamina
