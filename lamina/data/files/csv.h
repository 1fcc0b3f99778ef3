// CSV files: any separator, quoted fields, with or without a header line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lamina/data/files/read_options.h"

namespace lamina {

/// True for text: the start holds no NUL or other control bytes, or the path ends in .csv, .tsv, .txt or
/// .data.
bool LooksLikeCsv(std::string_view start, std::string_view path);

/// A table from text: UTF-8, or converted as options.encoding says (Table::encoding then tells from what).
/// - Fields may be quoted ("" within is a quote; separators and line ends are allowed). All lose spaces at both ends.
/// - Where the separator is a space, any number of them separates two fields.
/// - A column is numbers or dates where 95 % of its cells that have a value are such. The other cells are missing
///   values, which Column::odd tells; by options.strict they are errors. Other columns are text. So are few different
///   numbers among which a word recurs (1, 2, 3, more), and whole numbers of more digits than a double has.
///   Numbers may have a decimal comma, thousands separators, a currency or percent sign (ParseNumberText; PlanColumns
///   tells how such marks are found). Dates (ParseDate) become days since 1970-01-01. Column::format says what was
///   found.
/// - Lines that start with '#' and are no records are comments.
/// - Header::kAuto takes the first line for a header if none of its fields is a number or date, and one more thing
///   holds. Either a column below one of its names holds numbers, or its fields are distinct and not seen again in
///   their columns. One field may be empty where all cells below have values. Numbers are names where they count up by
///   one: years, or from 0 or 1. So they are beside a word that names one of options.answer_columns. For
///   a model the line must hold the names of all its inputs (options.known_columns).
///   Without a header the columns are c0, c1, ...
/// - A first line "sep=;" tells the separator.
/// - Empty lines are skipped (in a table of one column they are missing values, except at the end).
/// Throws Error(kBadData) with line and column, also for more than kMostCsvColumns; Error(kNotFound) for unknown
/// options.text_columns.
Table ReadCsv(std::string content, const std::string& source, const ReadOptions& options);

/// The same for the content of the file `source`, gzip or not, in little memory. Numbers go to a file in
/// options.scratch of up to 8 bytes for each byte of text; it is gone with the table. Text columns and lines take 4 and
/// 8 bytes of memory a row. Text whose fields are separated by runs of spaces is read whole.
Table ReadCsvFile(std::string_view content, const std::string& source, const ReadOptions& options);

}  // namespace lamina
