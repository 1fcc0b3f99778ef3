// What the Preprocessor keeps of one column, and the one place that knows how a number is scaled.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// sign(x) ln(1 + |x|), and the number that it is of.
inline double SignedLogarithm(double x) { return std::copysign(std::log1p(std::abs(x)), x); }
inline double SignedExponential(double y) { return std::copysign(std::expm1(std::abs(y)), y); }

/// A number x becomes (x - offset) / scale, where `logarithm` is set of SignedLogarithm(x) instead of x. What cannot
/// call Encode() and Decode() (exported files) takes all three parts. In a loop over many numbers with a `logarithm`
/// that the compiler knows, Encode() has no branch.
struct ColumnScaling {
  bool logarithm = false;
  double offset = 0;
  double scale = 1;

  double Encode(double x) const { return ((logarithm ? SignedLogarithm(x) : x) - offset) / scale; }
  double Decode(double encoded) const {
    const double value = encoded * scale + offset;
    return logarithm ? SignedExponential(value) : value;
  }
  bool IsIdentity() const { return !logarithm && offset == 0 && scale == 1; }
};

/// The least and the greatest of some numbers.
struct NumberSpan {
  double low = 0;
  double high = 0;
};

/// Text becomes one number per category, or its category's index scaled.
struct FittedColumn {
  std::string name;
  int64_t position = 0;  // in the table it was fitted on
  ColumnKind kind = ColumnKind::kNumber;
  ColumnScaling scaling;
  double fill = 0;  // the mean of the training rows, for missing numbers; 0 where nothing was measured
  bool one_hot = false;
  std::vector<std::string> categories;  // text only
  int32_t fill_category = 0;            // for missing text: the most frequent one
  bool is_date = false;                 // the numbers are days since 1970-01-01
  ColumnFormat format;                  // of the training data's file
  std::optional<NumberSpan> span;       // of the training rows; older files have none

  // Of fitting, not stored:
  int64_t missing = 0;  // training rows without a value

  // Not stored, they follow from the others:
  int64_t place = 0;       // of its first number in an encoded row
  bool keeps_mean = true;  // `fill` was measured

  int64_t width() const { return one_hot ? static_cast<int64_t>(categories.size()) : 1; }
  /// A number from the middle of the training rows, in units of the column: the mean, for logarithms the number whose
  /// logarithm is their mean. 0 where nothing was measured.
  double Typical() const { return scaling.logarithm ? scaling.Decode(0) : fill; }
};

/// Sets their places in an encoded row, one behind the other; returns how long that is.
inline int64_t PlaceColumns(std::vector<FittedColumn>& columns) {
  int64_t place = 0;
  for (FittedColumn& column : columns) {
    column.place = place;
    place += column.width();
  }
  return place;
}

}  // namespace lamina
