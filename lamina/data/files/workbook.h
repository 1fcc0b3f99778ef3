// Spreadsheets as tables: a sheet becomes CSV text, so that one reader decides what columns are.
#pragma once

#include <string>
#include <string_view>

#include "lamina/data/files/read_options.h"
#include "lamina/data/files/sheet_cells.h"

namespace lamina {

/// True for zip archives, which ReadWorkbook tells apart.
bool LooksLikeXlsx(std::string_view start, std::string_view path);
/// True for those whose first member says that they are .ods.
bool LooksLikeOds(std::string_view start, std::string_view path);

/// The sheet options.sheet of an .xlsx or .ods book; "": the first that is not hidden. Cells of numbers count with
/// their digits, dates and times by their formats, logical values are TRUE and FALSE, formulas have their last results.
/// Empty rows and columns before the table are left out, as are empty rows within; shorter rows end with missing
/// values. Texts are read as those of CSV files. Table::lines are rows of the sheet, and errors name cells. Throws
/// Error(kBadData | kNotFound | kUnsupported | kResource), also for archives that are no books.
Table ReadWorkbook(std::string content, const std::string& source, const ReadOptions& options);

/// The same without what CSV text becomes, and with a limit of the memory that cells take.
Sheet ReadSheet(std::string_view content, const std::string& source, const SheetQuery& query);

/// Throws Error(kUnsupported) for what Excel wrote before 2007 and for books with a password, by `content`.
void RefuseOldBook(std::string_view content, const std::string& source);

}  // namespace lamina
