// Reading tables: the entry points and the table of formats.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/read_options.h"

namespace lamina {

/// Reads `path`: a file of any format in FormatTable(), a folder of {train,t10k}-images-idx3-ubyte[.gz] and labels, or
/// NAME:FOLDER, a data set of DataSetTable(). A file may be gzip-compressed, or alone in a zip archive. A folder's
/// labels become the last column, "label", of text categories "0".."9". Throws Error(kNotFound | kIo | kBadData).
ReadResult ReadData(const std::string& path, const ReadOptions& options = {});

/// The file that describes a folder of encoded data (run/encoded_data.h), which is no table.
inline constexpr const char* kEncodedManifest = "encoded.json";

/// The files that ReadData(path) reads: those of a folder or data set that are there, or `path` itself.
std::vector<std::string> DataFiles(const std::string& path);

/// One table from one file.
Table ReadTable(const std::string& path, const ReadOptions& options = {});

/// One row a format. `matches` looks at the decompressed start of the content and the name without ".gz".
struct FormatRow {
  std::string_view name;
  bool (*matches)(std::string_view start, std::string_view path);
  Table (*read)(std::string content, const std::string& source, const ReadOptions& options);
  bool has_sheets = false;        // of which ReadOptions::sheet chooses one
  std::string_view endings = {};  // of usual names, with blanks between them; for dialogs, readers look at the content
};
std::span<const FormatRow> FormatTable();

/// Folders read as one data set, written NAME:FOLDER.
struct DataSetRow {
  std::string_view name;
  ReadResult (*read)(const std::string& folder, const ReadOptions& options);
  std::vector<std::string> (*files)(const std::string& folder);  // those of its files that are there
};
std::span<const DataSetRow> DataSetTable();

}  // namespace lamina
