// A table from CSV text whose separator is known. Private to the CSV reader.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lamina/data/files/read_options.h"
#include "lamina/data/files/text_file.h"

namespace lamina {

/// A text without trailing blank lines. `file`: the text is a file's; memory behind the reader is given back, and
/// numbers are kept in files, too. `restore` then brings back what was changed in the text.
struct CsvTextSource {
  std::string_view text;
  char separator;
  const std::string& source;
  TextFile* file = nullptr;
  std::function<void()> restore = [] {};
};

/// As ReadCsv.
Table ReadCsvText(const CsvTextSource& from, const ReadOptions& options);

}  // namespace lamina
