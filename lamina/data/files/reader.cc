// The entry points of reading: the table of formats tells a file's format, by its start and name, and its reader.
#include "lamina/data/files/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/mapped_file.h"
#include "lamina/data/files/csv.h"
#include "lamina/data/files/gzip.h"
#include "lamina/data/files/idx.h"
#include "lamina/data/files/kddcup99.h"
#include "lamina/data/files/no_tables.h"
#include "lamina/data/files/npy.h"
#include "lamina/data/files/workbook.h"
#include "lamina/data/files/zip_table.h"

namespace lamina {
namespace {

constexpr size_t kStart_bytes = 4096;  // what `matches` may look at

constexpr std::array<FormatRow, 5> kFormats{{
    {"idx", LooksLikeIdx, ReadIdx, /*has_sheets=*/false, "idx3-ubyte idx1-ubyte"},
    {"npy", LooksLikeNpy, ReadNpy, /*has_sheets=*/false, ".npy"},
    {"xlsx", LooksLikeXlsx, ReadWorkbook, /*has_sheets=*/true, ".xlsx .xlsm"},
    {"ods", LooksLikeOds, ReadWorkbook, /*has_sheets=*/true, ".ods"},
    {"csv", LooksLikeCsv, ReadCsv, /*has_sheets=*/false, ".csv .tsv .txt .data .zip"},  // last: any text
}};

constexpr DataSetRow kImages{"mnist", ReadIdxFolder, IdxFolderFiles};  // also what a plain folder is read as
constexpr std::array<DataSetRow, 2> kDataSets{{{"kddcup99", ReadKddCup99, KddCup99Files}, kImages}};

// A safetensors file: the length of its JSON header in 8 bytes, then that.
bool LooksLikeModel(std::string_view start) {
  constexpr size_t kLength_bytes = 8;
  return start.size() > kLength_bytes + 1 && start[kLength_bytes - 1] == '\0' && start[kLength_bytes] == '{';
}

// Files people try that only need a step before.
std::string_view NameOfKnownBinary(std::string_view start) {
  struct Magic {
    std::string_view bytes;
    std::string_view name;
  };
  static constexpr std::array<Magic, 5> kMagics{{{"BZh", "bzip2 data"},
                                                 {"\xFD"
                                                  "7zXZ",
                                                  "xz data"},
                                                 {"\x28\xB5\x2F\xFD", "Zstandard data"},
                                                 {"\x89PNG", "a PNG picture"},
                                                 {"\xFF\xD8\xFF", "a JPEG picture"}}};
  for (const Magic& magic : kMagics) {
    if (start.starts_with(magic.bytes)) {
      return magic.name;
    }
  }
  return "a binary file of an unknown format";
}

[[noreturn]] void ThrowNoSheets(const std::string& path, const std::string& sheet) {
  throw Error(ErrorCode::kInvalidArgument, "has no sheets, of which one was named",
              {.file = path, .value = sheet, .remedy = "Leave --sheet out.", .setting = "sheet"});
}

}  // namespace

KnownColumn KnownColumnOf(const Column& column) { return {column.name, column.kind, column.is_date, column.format}; }

std::span<const FormatRow> FormatTable() { return kFormats; }
std::span<const DataSetRow> DataSetTable() { return kDataSets; }

namespace {

// A CSV file in little memory; none where it is another format.
std::optional<Table> ReadInLittleMemory(const std::string& path, const ReadOptions& options) {
  const MappedFile file(path);
  const std::string_view content(reinterpret_cast<const char*>(file.content().data()), file.content().size());
  const std::string start =
      IsGzip(content) ? GunzipStart(content, kStart_bytes, path) : std::string(content.substr(0, kStart_bytes));
  const std::string_view name = std::string_view(path).substr(0, path.size() - (path.ends_with(".gz") ? 3 : 0));
  RefuseWhatIsNoTable(start, path);
  const auto format =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatRow& row) { return row.matches(start, name); });
  if (start.empty() || format == kFormats.end() || format->read != ReadCsv || !options.sheet.empty()) {
    return std::nullopt;
  }
  return ReadCsvFile(content, path, options);
}

}  // namespace

Table ReadTable(const std::string& path, const ReadOptions& options) {
  if (!options.scratch.empty()) {
    if (std::optional<Table> table = ReadInLittleMemory(path, options)) {
      return std::move(*table);
    }
  }
  std::string content = ReadFile(path);
  if (std::optional<std::string> file = OnlyFileInZip(content, path)) {
    content = std::move(*file);
  }
  const bool compressed = IsGzip(content);
  const std::string start = compressed ? GunzipStart(content, kStart_bytes, path) : content.substr(0, kStart_bytes);
  if (start.empty()) {
    throw Error(ErrorCode::kBadData, "the file is empty", {.file = path});
  }
  RefuseOldBook(compressed ? std::string_view(start) : content, path);
  RefuseWhatIsNoTable(start, path);
  std::string_view name = path;
  if (name.ends_with(".gz")) {
    name.remove_suffix(3);
  }
  std::string known;
  for (const FormatRow& format : FormatTable()) {
    if (format.matches(start, name)) {
      if (!options.sheet.empty() && !format.has_sheets) {
        ThrowNoSheets(path, options.sheet);
      }
      return format.read(compressed ? Gunzip(content, path) : std::move(content), path, options);
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  }
  if (LooksLikeModel(start)) {
    throw Error(ErrorCode::kBadData, "is a lamina model, not a table",
                {.file = path, .remedy = "lamina model show says what it holds."});
  }
  throw Error(ErrorCode::kBadData, fmt::format("is {}", NameOfKnownBinary(start)),
              {.file = path, .remedy = fmt::format("Convert it to one of: {} (gzip-compressed or not).", known)});
}

namespace {

// The row that NAME:FOLDER or a plain folder asks for, and the folder; null for a file.
std::pair<const DataSetRow*, std::string> DataSetOf(const std::string& path) {
  for (const DataSetRow& row : DataSetTable()) {
    if (path.size() > row.name.size() && path.starts_with(row.name) && path[row.name.size()] == ':') {
      return {&row, path.substr(row.name.size() + 1)};
    }
  }
  std::error_code error;
  return {std::filesystem::is_directory(path, error) ? &kImages : nullptr, path};
}

bool HoldsEncodedData(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(folder) / kEncodedManifest, ignored);
}

}  // namespace

ReadResult ReadData(const std::string& path, const ReadOptions& options) {
  if (const auto [row, folder] = DataSetOf(path); row != nullptr) {
    if (HoldsEncodedData(folder)) {
      throw Error(ErrorCode::kBadData, "holds encoded data, which are for lamina train alone",
                  {.file = path, .remedy = "Give the file that was encoded."});
    }
    if (!options.sheet.empty()) {
      ThrowNoSheets(path, options.sheet);
    }
    return row->read(folder, options);
  }
  ReadResult result;
  result.train = ReadTable(path, options);
  return result;
}

std::vector<std::string> DataFiles(const std::string& path) {
  const auto [row, folder] = DataSetOf(path);
  if (row != nullptr && HoldsEncodedData(folder)) {
    return {(std::filesystem::path(folder) / kEncodedManifest).string()};
  }
  return row == nullptr ? std::vector<std::string>{path} : row->files(folder);
}

}  // namespace lamina
