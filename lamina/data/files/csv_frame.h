// What stands around the table of a text: titles above its names, units below them, notes and sums at its end. Private
// to the CSV reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/csv_dialect.h"

namespace lamina {

/// Where the table is in a text, and its first records.
struct CsvFrame {
  CsvSample sample;                // from the names on, without what is between them and the first row
  bool header = false;             // its first record holds the names
  std::vector<std::string> names;  // the fields of that record, or what they become
  size_t begin = 0;                // of the first record in the text
  int64_t line = 1;                // the same as a line of it
  size_t end = 0;                  // behind the last record
  TableFrame lines;                // what is left out
};

/// Looks for the table in `text`, which has no blank lines at its end. Does nothing where options.keep_around says so,
/// but for the header, and looks for no titles where options.header or options.header_line say where names are.
/// - Titles: lines above the names that fill half the table's columns at most, with a word in the first cell. Lines of
///   another number of fields than all below them are titles, too.
/// - Names of two lines: where names recur, the line above them tells them apart (merged cells: "Q1 plan", "Q2 plan").
/// - A record of names may have one field fewer than all others. The first column then has no name if its texts are all
///   different (R's write.table). Else an empty last one has none (a separator behind each row).
/// - Units: up to three records below the names without a number or date, with words in most columns of those.
/// - Rules: a line of nothing but "-", "+", "=", "|" and ":" below the names.
/// - Notes: lines at the end that are one field of words, behind an empty line or with a blank in them.
/// Throws Error(kBadData) as TakeSample, Error(kInvalidArgument) where options.header_line is behind the text.
CsvFrame FindFrame(std::string_view text, char separator, const std::string& source, const MissingMarks& marks,
                   const ReadOptions& options);

/// Where `line`, counted from 1, begins in `text`; its size for lines that there are not.
size_t OffsetOfLine(std::string_view text, int64_t line);

}  // namespace lamina
