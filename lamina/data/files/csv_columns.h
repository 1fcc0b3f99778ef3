// Turns CSV fields into columns of numbers, dates or text. Private to the CSV reader.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/table.h"

namespace lamina {

enum class FieldKind { kMissing, kNumber, kDate, kText };

/// What a field looks like; "inf" and numbers out of range count as numbers, so that the parser reports them.
FieldKind ClassifyField(std::string_view field, std::span<const std::string> missing);

/// Days since 1970-01-01 of YYYY-MM-DD, optionally followed by 'T' or ' ' and HH:MM[:SS] (fraction of a day).
/// False if `text` is not a valid date.
bool ParseDate(std::string_view text, double& days);

/// What one column is: what most of the sampled values are. kMissing if the sample has none.
FieldKind DecideKind(std::span<const FieldKind> sample);

/// Builds one column, field after field.
class CsvColumnBuilder {
 public:
  CsvColumnBuilder(std::string name, FieldKind kind, const std::string& source, std::span<const std::string> missing);

  void Reserve(size_t rows);
  /// Reads the next field. Throws Error(kBadData) for a value that does not fit the column.
  void Read(CsvCursor& cursor);
  Column Finish() &&;

 private:
  struct Entry {
    std::string text;
    int32_t code;  // -1: a word for "missing"
  };

  bool ReadNumberFast(CsvCursor& cursor);
  bool ReadDateFast(CsvCursor& cursor);
  bool ReadTextFast(CsvCursor& cursor);
  void ReadSlow(CsvCursor& cursor);
  double ParseValue(std::string_view field, int64_t line) const;
  int32_t CodeOf(std::string_view text);
  void GrowSlots();
  bool IsMissing(std::string_view field) const;

  std::string name_;
  FieldKind kind_;  // kMissing: not known yet
  const std::string& source_;
  std::span<const std::string> missing_;
  bool numeric_missing_ = false;  // a word for "missing" that is a number: no fast path
  size_t rows_ = 0;
  std::vector<double> numbers_;
  std::vector<int32_t> codes_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing: entry + 1, 0 is free; a power of two
  int32_t next_code_ = 0;
  size_t last_entry_ = 0;
};

}  // namespace lamina
