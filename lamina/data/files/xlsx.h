// Books of Excel (.xlsx, .xlsm) as Office Open XML. Private to the readers.
#pragma once

#include <optional>

#include "lamina/data/files/sheet_cells.h"
#include "lamina/data/files/zip_file.h"

namespace lamina {

/// The sheet that `query` asks for. Cells are as their values say, not as shown, but only formats tell dates, times and
/// percent. Formulas have their stored results. None where the archive holds no such book. Throws Error(kBadData |
/// kNotFound | kUnsupported | kResource).
std::optional<Sheet> ReadXlsxSheet(const ZipFile& zip, const SheetQuery& query);

}  // namespace lamina
