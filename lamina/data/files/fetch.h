// Downloading the public data sets from their homes with the program curl: resumed, verified, complete or not there.
#pragma once

#include <cstdint>
#include <functional>
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

struct FetchProgress {
  enum class State { kPresent, kDownloading, kDone };
  State state = State::kDownloading;
  const FetchFile* file = nullptr;
  int64_t index = 0;       // of the file, from 0
  int64_t done_bytes = 0;  // of the file
};

struct FetchOptions {
  std::string folder;    // made where it does not exist
  std::string base_url;  // instead of the data set's own (http, https or file); empty: those
  std::function<void(const FetchProgress&)> progress;  // a few times a second; may throw to give up
  int connect_timeout_seconds = 20;
  int stall_timeout_seconds = 60;  // gives up when nothing arrives for so long
};

struct FetchResult {
  std::vector<std::string> paths;  // in the order of FetchSpec::files
  int64_t downloaded_files = 0;    // the others were there already
};

/// Makes every file of `spec` be in options.folder with the right SHA-256; what is there and right is not downloaded
/// again. A file is loaded as NAME.part, which a later call continues, checked, and only then renamed. Throws
/// Error(kNetwork) with what to do by hand where a file cannot be had, Error(kBadData) where what came has another
/// checksum (it is removed), Error(kIo) for a folder that cannot be written. One call at a time for a folder.
FetchResult Fetch(const FetchSpec& spec, const FetchOptions& options);

}  // namespace lamina
