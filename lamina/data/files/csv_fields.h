// What the fields of CSV text may be: numbers, dates, text, missing values. Private to the CSV reader.
#pragma once

#include <span>
#include <string_view>

#include "lamina/data/files/missing_marks.h"

namespace lamina {

enum class FieldKind { kMissing, kNumber, kDate, kText };

/// What a field may be, given how numbers and dates are written. "inf" and numbers out of range count as numbers, so
/// that the parser reports them. Whole numbers with more digits than a double has are text: identifiers.
struct FieldReadings {
  bool missing = false;
  bool with_point = false;  // a number with a decimal point, or with none
  bool with_comma = false;
  bool has_point = false;  // such a number that shows the mark
  bool has_comma = false;
  bool year_first = false;  // a date
  bool day_first = false;
  bool month_first = false;

  /// A number by either mark is a number.
  FieldKind Kind() const;
  /// A number by `decimal` only.
  FieldKind KindFor(char decimal) const;
};
FieldReadings ReadingsOf(std::string_view field, const MissingMarks& marks);
inline FieldKind ClassifyField(std::string_view field, const MissingMarks& marks) {
  return ReadingsOf(field, marks).Kind();
}

/// What one column is: what most of the sampled values are. kMissing if the sample has none.
FieldKind DecideKind(std::span<const FieldKind> sample);

}  // namespace lamina
