// Reads the records of CSV text into columns, in several parts at once. Private to the CSV reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/files/csv_columns.h"
#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/csv_formats.h"
#include "lamina/data/files/number_file.h"
#include "lamina/data/files/text_file.h"

namespace lamina {

/// What records are read into.
struct CsvRecordsPlan {
  std::span<const std::string> names;
  std::span<const CsvColumnPlan> columns;
  CsvRules rules;
  size_t rows = 0;  // about so many will come
};

struct CsvRecords {
  std::vector<CsvColumnBuilder> columns;
  std::vector<int64_t> lines;  // of each record
};

/// The records at `cursor` and all behind it. Threads read `parts` of the text at once (0: as many as keep all busy),
/// each from a line that looks like a record. Where parts do not fit together, or have errors, all is read in order
/// again. So results and errors are those of one part. Throws Error(kBadData).
CsvRecords ReadRecords(const CsvCursor& cursor, const CsvRecordsPlan& plan, int64_t parts);

/// The same in little memory, in one part: numbers go to `numbers`, and what was read leaves the memory of `text`.
CsvRecords ReadRecordsToFile(CsvCursor cursor, const CsvRecordsPlan& plan, const TextFile& text, NumberFile& numbers);

}  // namespace lamina
