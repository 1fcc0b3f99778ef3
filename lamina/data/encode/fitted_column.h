// What the Preprocessor keeps of one column, and the one place that knows how a number is scaled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/encode/text_scores.h"
#include "lamina/data/files/table.h"

namespace lamina {

/// sign(x) ln(1 + |x|), and the number that it is of.
inline double SignedLogarithm(double x) { return std::copysign(std::log1p(std::abs(x)), x); }
inline double SignedExponential(double y) { return std::copysign(std::expm1(std::abs(y)), y); }

/// y / sqrt(1 + (y/3)^2): y itself near 0, never beyond -3 and 3 (Holzmueller et al. 2024, RealMLP). Not finite for
/// what is not.
inline double SmoothClip(double y) {
  constexpr double kMost = 3;
  constexpr double kFar = 1e9;  // from here on the result is kMost, and further on the square would overflow
  const double t = y / kMost;
  return std::abs(y) < kFar ? y / std::sqrt(1 + t * t) : std::copysign(kMost, y) + (y - y);
}

/// What is done to a number beside shifting and dividing it.
enum class Curve {
  kLinear,
  kLogarithm,   // SignedLogarithm() before
  kSmoothClip,  // SmoothClip() behind
  kSine,        // sin(2 pi y) behind: `scale` is the period
  kEquals,      // 1 where y is 0, else 0
};

/// A number x becomes (x - offset) / scale, with its curve, between `low` and `high`. What cannot call Encode() and
/// Decode() (exported files) takes all parts. In a loop over many numbers with a `curve` that the compiler knows,
/// Encode() has no branch.
struct ColumnScaling {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  Curve curve = Curve::kLinear;
  double offset = 0;
  double scale = 1;
  double low = -kUnlimited;
  double high = kUnlimited;

  double Encode(double x) const {
    double y = ((curve == Curve::kLogarithm ? SignedLogarithm(x) : x) - offset) / scale;
    if (curve == Curve::kSmoothClip) {
      y = SmoothClip(y);
    } else if (curve == Curve::kSine) {
      y = std::sin(2 * std::numbers::pi * y);
    } else if (curve == Curve::kEquals) {
      y = y == 0 ? 1 : 0;
    }
    return std::min(std::max(y, low), high);  // a NaN stays one
  }
  /// Targets are kLinear or kLogarithm and have no limits: the other curves have no inverse.
  double Decode(double encoded) const {
    const double value = encoded * scale + offset;
    return curve == Curve::kLogarithm ? SignedExponential(value) : value;
  }
  bool has_limits() const { return low != -kUnlimited || high != kUnlimited; }
  /// One vector loop serves many such: shifted and divided, nothing else.
  bool IsLinear() const { return curve == Curve::kLinear && !has_limits(); }
  bool IsIdentity() const { return IsLinear() && offset == 0 && scale == 1; }
};

/// The least and the greatest of some numbers.
struct NumberSpan {
  double low = 0;
  double high = 0;
};

/// Numbers become one input, or one per bin (`edges`); dates get two more for every period, codes one for every value.
/// Text becomes one input per category, its category's index scaled, one per bucket of its words' hashes, or what its
/// words say of the target. Where training rows lacked values, one more input says whether the value is missing.
struct FittedColumn {
  std::string name;
  int64_t position = 0;  // in the table it was fitted on
  ColumnKind kind = ColumnKind::kNumber;
  ColumnScaling scaling;
  double fill = 0;  // the mean (or median) of the training rows, for missing numbers; 0 where nothing was measured
  bool one_hot = false;
  std::vector<std::string> categories;       // text only
  int32_t fill_category = 0;                 // for missing text: the most frequent one
  bool is_date = false;                      // the numbers are days since 1970-01-01
  ColumnFormat format;                       // of the training data's file
  std::optional<NumberSpan> span;            // of the training rows; older files have none
  std::vector<double> edges;                 // ascending: of the bins of a piecewise-linear encoding; none: `scaling`
  std::vector<double> periods;               // of dates, in days: each is a sine and a cosine beside `scaling`
  std::vector<double> codes;                 // values with an input of their own beside `scaling`, ascending
  bool has_other = false;                    // one-hot: one more input for all values that are no category
  int64_t buckets = 0;                       // free text: so many inputs
  std::shared_ptr<const TextScores> scores;  // free text: an input each
  bool indicates_missing = false;            // one more input, 1 where the value is missing

  // Known from fitting, not stored:
  int64_t missing = 0;  // training rows without a value
  int64_t folded = 0;   // categories of the training rows that count as other, and values that are no codes

  // Not stored, they follow from the others:
  int64_t place = 0;       // of its first number in an encoded row
  bool keeps_mean = true;  // `fill` was measured

  /// Free text, of which words are read.
  bool IsWords() const { return buckets > 0 || scores != nullptr; }
  /// Inputs without that of missing values.
  int64_t value_width() const {
    if (kind == ColumnKind::kText) {
      return scores        ? scores->count()
             : buckets > 0 ? buckets
             : one_hot     ? std::ssize(categories) + (has_other ? 1 : 0)
                           : 1;
    }
    return (edges.empty() ? 1 : std::ssize(edges) - 1) + 2 * std::ssize(periods) + std::ssize(codes);
  }
  int64_t width() const { return value_width() + (indicates_missing ? 1 : 0); }
  /// Numbers of which training saw 0 and 1 only.
  bool IsFlag() const { return kind == ColumnKind::kNumber && !is_date && span && span->low == 0 && span->high == 1; }
  /// The category of values that are none; -1: there is no such input.
  int32_t other() const { return has_other ? static_cast<int32_t>(categories.size()) : -1; }
  /// How a number's inputs are computed from it, value_width() of them.
  std::vector<ColumnScaling> Parts() const;
  /// A number from the middle of the training rows, in units of the column: the mean, for logarithms the number whose
  /// logarithm is their mean. 0 where nothing was measured.
  double Typical() const { return scaling.curve == Curve::kLogarithm ? scaling.Decode(0) : fill; }
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
