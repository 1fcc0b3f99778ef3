// Tables in zip archives. Private to the readers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lamina {

/// The only file of the zip archive `content`; folders, hidden files and what macOS adds do not count. None: `content`
/// is no archive, or holds another number of files, as workbooks do. Throws Error as ZipFile.
std::optional<std::string> OnlyFileInZip(std::string_view content, const std::string& source);

}  // namespace lamina
