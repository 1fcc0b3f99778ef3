// How the columns of a CSV file are written: kinds, decimal marks, orders of dates. Private to the CSV reader.
#pragma once

#include <string_view>
#include <vector>

#include "lamina/data/files/csv_dialect.h"

namespace lamina {

/// A file's text.
struct CsvText {
  std::string_view content;
  char separator;
  const std::string& source;
};

/// A plan for each column, from the sample's records behind the header. Fields tell what `options` leave open:
/// - The decimal mark is the one without which some field is no number (1,25; 0.5). Where the fields do not tell
///   (1,234; 12), the other columns do, then what is known of the column. Last comes the separator: commas are decimal
///   where files have semicolons.
/// - The order of dates is one that allows them all (a day above 12), looked for in all of `text`. Next comes what is
///   known; then month first with slashes, day first without, which is said (ColumnFormat::order_assumed).
std::vector<CsvColumnPlan> PlanColumns(const CsvSample& sample, bool header, const std::vector<std::string>& names,
                                       const CsvText& text, const MissingMarks& marks, const ReadOptions& options);

}  // namespace lamina
