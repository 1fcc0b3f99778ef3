// Cells that say "no value": one list for every kind of column and every door.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// The marks that every reader knows, in lower case; capital letters do not matter. The empty cell is one.
std::span<const std::string_view> CommonMissingMarks();

/// The common marks and more. A mark that is a number also stands for numbers of equal value.
class MissingMarks {
 public:
  MissingMarks() = default;
  explicit MissingMarks(std::span<const std::string> more);

  /// Whether `cell` (without blanks at its ends) is a mark, or a NaN with or without a sign.
  bool Contains(std::string_view cell) const;
  /// The same for the words of an answer: "none", "-" and "." may be classes there, and are no marks.
  bool ContainsAnswer(std::string_view cell) const;
  bool ContainsNumber(double value) const;
  /// Whether some of the marks are numbers.
  bool has_numbers() const { return !numbers_.empty(); }

 private:
  std::vector<std::string> more_;  // in lower case
  std::vector<double> numbers_;
};

}  // namespace lamina
