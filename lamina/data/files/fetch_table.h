// The public data sets that can be fetched: their homes, files and checksums.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// One file of a data set as its publisher serves it.
struct FetchFile {
  std::string name;
  int64_t size_bytes = 0;
  std::string sha256;  // 64 lower-case hexadecimal digits
};

/// A data set: where it is (mirrors are tried in order; each ends in '/', a file's name follows) and what belongs to
/// it.
struct FetchSpec {
  std::string name;  // "mnist"
  std::string title;
  std::string licence;
  std::vector<std::string> base_urls;
  std::vector<FetchFile> files;

  int64_t TotalBytes() const;
};

/// The data sets that are known by name.
std::span<const FetchSpec> FetchTable();
/// Throws Error(kInvalidArgument) offering the nearest name.
const FetchSpec& FindFetchSpec(std::string_view name);

}  // namespace lamina
