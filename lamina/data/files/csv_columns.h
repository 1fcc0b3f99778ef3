// Turns CSV fields into columns of numbers, dates or text. Private to the CSV reader.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/csv_categories.h"
#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/number_file.h"
#include "lamina/data/files/table.h"

namespace lamina {

enum class FieldKind { kMissing, kNumber, kDate, kText };

/// What a field may be, depending on how numbers and dates are written; "inf" and numbers out of range count as
/// numbers, so that the parser reports them.
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
FieldReadings ReadingsOf(std::string_view field, std::span<const std::string> missing);
inline FieldKind ClassifyField(std::string_view field, std::span<const std::string> missing) {
  return ReadingsOf(field, missing).Kind();
}

/// Whether `field` means "missing" in a column of numbers or dates, where words like "None" and "-" cannot be values.
bool IsMissingNumber(std::string_view field, std::span<const std::string> missing);

/// What one column is: what most of the sampled values are. kMissing if the sample has none.
FieldKind DecideKind(std::span<const FieldKind> sample);

/// Builds one column, field after field.
class CsvColumnBuilder {
 public:
  CsvColumnBuilder(std::string name, FieldKind kind, const ColumnFormat& format, const std::string& source,
                   std::span<const std::string> missing);

  void Reserve(size_t rows);
  /// From now on numbers go to a file, as column `index` of it, as soon as there are some thousand.
  void KeepIn(NumberFile& file, int64_t index) { file_ = &file, index_ = index; }
  /// Reads the next field. Throws Error(kBadData) for a value that does not fit the column.
  void Read(CsvCursor& cursor);
  /// Takes the fields that `next` has read, made like this one and of a kind that is known. False where its numbers are
  /// in another unit.
  bool Append(CsvColumnBuilder&& next);
  Column Finish() &&;

 private:
  bool ReadNumberFast(CsvCursor& cursor);
  bool ReadDateFast(CsvCursor& cursor);
  bool ReadTextFast(CsvCursor& cursor);
  void ReadSlow(CsvCursor& cursor);
  double ParseValue(std::string_view field, int64_t line);
  bool ParseNumber(std::string_view field, int64_t line, double& value);
  bool TakeUnit(std::string_view unit);
  [[noreturn]] void ThrowValue(std::string_view field, int64_t line, const std::string& message,
                               const std::string& remedy) const;
  void Add(double value) {
    numbers_.push_back(value);
    if (file_ != nullptr && numbers_.size() == kKept) {
      WriteNumbers();
    }
  }
  void WriteNumbers();

  std::string name_;
  FieldKind kind_;  // kMissing: not known yet
  ColumnFormat format_;
  const std::string& source_;
  std::span<const std::string> missing_;
  bool marked_ = false;                  // a number with a decimal mark or with groups was read the slow way
  bool numeric_missing_ = false;         // a word for "missing" that is a number: no fast path
  static constexpr size_t kKept = 8192;  // numbers that wait to be written
  NumberFile* file_ = nullptr;
  int64_t index_ = 0;    // of the column in the file
  int64_t written_ = 0;  // numbers in it
  size_t rows_ = 0;
  std::vector<double> numbers_;
  std::vector<int32_t> codes_;
  CsvCategories categories_;
};

}  // namespace lamina
