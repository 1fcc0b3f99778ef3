// Cells that a program holds, read as the cells of a CSV file are: one way to read texts for every door.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/reader.h"

namespace lamina {

/// A table of `cells`, row after row with a cell for each of `names`; an empty one is missing. Lines make no sense.
/// `source` is what messages call it. Throws Error as ReadCsv().
Table ReadCells(std::span<const std::string> names, std::span<const std::string_view> cells, const std::string& source,
                const ReadOptions& options);

/// Columns that came from elsewhere become what the reader makes of a file with the same cells. Texts may turn out to
/// be numbers or dates; marks of missing values, also numbers that options.missing_values names, become missing.
/// `texts` and options.text_columns: columns that stay text, whatever their cells look like.
void ReadAsCells(Table& table, const ReadOptions& options, std::span<const std::string> texts = {});

}  // namespace lamina
