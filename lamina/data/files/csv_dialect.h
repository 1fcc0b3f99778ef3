// Finds out how a CSV file is written: separator, header, kinds of columns. Private to the CSV reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/csv_columns.h"
#include "lamina/data/files/read_options.h"

namespace lamina {

/// What a record may have: each column takes some hundred bytes beside its values.
inline constexpr int64_t kMostCsvColumns = 1'000'000;

/// The separator that splits the first records into the same number of fields; the most fields win. A comma, which may
/// be decimal, only where no other does. A space where none does and numbers are lined up with spaces.
char DetectSeparator(std::string_view content);

/// The first records, field by field.
struct CsvSample {
  std::vector<std::vector<std::string>> records;
  std::vector<size_t> begins;  // where each begins in the text
  std::vector<int64_t> lines;  // the same as a line of it, 1-based

  /// Without `count` records from `first` on.
  void Erase(size_t first, size_t count);
};
/// `line`: that `content` begins with.
CsvSample TakeSample(std::string_view content, char separator, const std::string& source, int64_t line = 1);

/// The rule stated at ReadCsv.
bool DetectHeader(const CsvSample& sample, const MissingMarks& marks);
/// Whether some column holds numbers or dates below a first field of text.
bool NamesNumbers(const CsvSample& sample, const MissingMarks& marks);

/// What the fields of a column are, from record `first_record` on.
std::vector<FieldKind> SampleColumn(const CsvSample& sample, size_t column, size_t first_record,
                                    const MissingMarks& marks);

/// Makes every run of spaces one, and removes them at the ends of lines, except within quotes. Fields separated by a
/// space may be lined up with more.
void CollapseBlanks(std::string& content);

}  // namespace lamina
