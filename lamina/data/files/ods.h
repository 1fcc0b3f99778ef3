// Books of LibreOffice (.ods) as OpenDocument. Private to the readers.
#pragma once

#include <optional>

#include "lamina/data/files/sheet_cells.h"
#include "lamina/data/files/zip_file.h"

namespace lamina {

inline constexpr std::string_view kOdsType = "application/vnd.oasis.opendocument.spreadsheet";

/// The sheet that `query` asks for, as ReadXlsxSheet. None where the archive holds no such book.
std::optional<Sheet> ReadOdsSheet(const ZipFile& zip, const SheetQuery& query);

}  // namespace lamina
