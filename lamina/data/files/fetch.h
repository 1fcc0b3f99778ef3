// Downloading the public data sets from their homes with the program curl: resumed, verified, complete or not there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lamina/data/files/fetch_table.h"

namespace lamina {

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

/// Puts every file of `spec` into options.folder with the right SHA-256. What is there and right is not downloaded
/// again; another file of that name is not replaced (Error(kIo)). A file is loaded as NAME.lamina-MARK.download, which
/// a later call continues, then checked and renamed. One call at a time loads it. Throws Error(kNetwork), with what to
/// do by hand, where a file cannot be had. Throws Error(kBadData) where what came has another checksum (it is removed),
/// Error(kIo) for a folder that cannot be written.
FetchResult Fetch(const FetchSpec& spec, const FetchOptions& options);

}  // namespace lamina
