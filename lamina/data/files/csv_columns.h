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
#include "lamina/data/files/csv_fields.h"
#include "lamina/data/files/missing_marks.h"
#include "lamina/data/files/number_file.h"
#include "lamina/data/files/table.h"

namespace lamina {

/// How a column is read.
struct CsvColumnPlan {
  FieldKind kind = FieldKind::kMissing;  // kMissing: the sample has no value
  ColumnFormat format;
  bool decided = false;    // whatever its other cells are
  bool is_answer = false;  // "none" and "-" are words of it
  bool is_flag = false;    // "true" and "false" are 1 and 0
};

/// What all columns of a file have in common.
struct CsvRules {
  const std::string& source;
  const MissingMarks& marks;
  bool strict = false;  // an odd cell among numbers is an error
};

/// Builds one column, field after field.
class CsvColumnBuilder {
 public:
  CsvColumnBuilder(std::string name, const CsvColumnPlan& plan, const CsvRules& rules);

  void Reserve(size_t rows);
  FieldKind kind() const { return kind_; }
  /// From now on numbers go to a file, as column `index` of it, as soon as there are some thousand.
  void KeepIn(NumberFile& file, int64_t index) { file_ = &file, index_ = index; }
  /// Reads the next field. Throws Error(kBadData) for broken quoting, and by strict rules for an odd cell.
  void Read(CsvCursor& cursor);
  /// Takes the fields that `next` has read, made like this one and of a kind that is known. False where its numbers are
  /// in another unit.
  bool Append(CsvColumnBuilder&& next);
  /// What the column is by all of its cells: numbers (or dates) where 95 % of the cells that have a value are such.
  /// Otherwise, or where a word recurs among few different numbers ("1", "2", "3", "more"), it is text. A column that
  /// was read as something else has to be read again.
  FieldKind KindByAll();
  /// The word that recurs among few different numbers; "": none does.
  std::string WordOfFew();
  Column Finish() &&;

 private:
  bool ReadNumberFast(CsvCursor& cursor);
  bool ReadDateFast(CsvCursor& cursor);
  bool ReadTextFast(CsvCursor& cursor);
  void ReadSlow(CsvCursor& cursor);
  bool ParseValue(std::string_view field, double& value);
  bool ParseNumber(std::string_view field, double& value);
  void AddOdd(std::string_view field, int64_t line);
  bool MostAreNumbers() const;
  std::span<const double> Numbers();
  bool TakeUnit(std::string_view unit);
  [[noreturn]] void ThrowValue(std::string_view field, int64_t line) const;
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
  bool decided_;
  bool is_flag_;
  CsvRules rules_;
  bool marked_ = false;                  // a number with a decimal mark or with groups was read the slow way
  static constexpr size_t kKept = 8192;  // numbers that wait to be written
  NumberFile* file_ = nullptr;
  int64_t index_ = 0;    // of the column in the file
  int64_t written_ = 0;  // numbers in it
  size_t rows_ = 0;
  int64_t missing_ = 0;  // of numbers
  std::vector<double> numbers_;
  std::shared_ptr<const Mapping> mapping_;
  std::vector<int32_t> codes_;
  CsvCategories categories_;
  CsvCategories odd_words_;
  std::vector<OddCells::Cell> odd_;
};

}  // namespace lamina
