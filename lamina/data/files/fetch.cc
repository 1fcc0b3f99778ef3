// Fetch: runs curl as a child process, without a shell. curl brings TLS, proxies and resuming, and is on nearly every
// machine; a library would be a dependency that only this needs.
#include "lamina/data/files/fetch.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <thread>

#include "lamina/base/child_process.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_claim.h"
#include "lamina/base/file_set.h"
#include "lamina/base/part_file.h"
#include "lamina/base/sha256.h"
#include "lamina/base/text.h"
#include "lamina/platform/child.h"
#include "lamina/platform/file.h"

namespace lamina {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 4;  // at one address, as long as each is cut off with something gained
constexpr auto kPoll = std::chrono::milliseconds(50);

// Why one address did not give the file.
struct Failure {
  std::string reason;
  bool wrong_content = false;
};

int64_t SizeOrZero(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

void Remove(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

// What an earlier call has of the file goes on under the same name.
std::string DownloadName(const FetchFile& file, const std::string& path) {
  uint32_t number = 0;
  std::from_chars(file.sha256.data(), file.sha256.data() + 8, number, 16);
  return OwnName(path, number, ".download");
}

// A person's file is not replaced, and none is written through a link.
void RequireFree(const std::string& path, const std::string& download) {
  if (platform::FactsOf(path.c_str())) {
    throw Error(ErrorCode::kIo, "is there and is not the file to download",
                {.file = path, .remedy = "Move it, or give another folder."});
  }
  if (const auto facts = platform::FactsOf(download.c_str()); facts && (!facts->is_file() || facts->links != 1)) {
    throw Error(ErrorCode::kIo, "is there and is no download of lamina's", {.file = download, .remedy = "Move it."});
  }
}

class Fetcher {
 public:
  Fetcher(const FetchSpec& spec, const FetchOptions& options) : spec_(spec), options_(options) {
    urls_ = options.base_url.empty() ? spec.base_urls : std::vector<std::string>{options.base_url};
    for (std::string& url : urls_) {
      if (!url.ends_with('/')) {
        url += '/';
      }
    }
  }

  FetchResult Run() {
    MakeFolders(options_.folder);
    FetchResult result;
    std::set<std::string> there;
    for (const FetchFile& file : spec_.files) {
      if (IsRight(file)) {
        there.insert(file.name);
      } else {
        RequireFree(PathOf(file), DownloadName(file, PathOf(file)));
      }
    }
    for (const FetchFile& file : spec_.files) {
      const std::string path = PathOf(file);
      if (there.contains(file.name)) {
        Report(file, FetchProgress::State::kPresent, file.size_bytes);
      } else {
        RequireWritableTarget(path);
        const std::unique_ptr<FileClaim> claim = FileClaim::Take(path);  // nobody else adds to the same part
        Obtain(file, path);
        ++result.downloaded_files;
        Report(file, FetchProgress::State::kDone, file.size_bytes);
      }
      result.paths.push_back(path);
    }
    return result;
  }

 private:
  std::string PathOf(const FetchFile& file) const { return (fs::path(options_.folder) / file.name).string(); }

  bool IsRight(const FetchFile& file) const {
    const std::string path = PathOf(file);
    std::error_code error;
    return fs::is_regular_file(path, error) && SizeOrZero(path) == file.size_bytes && Sha256OfFile(path) == file.sha256;
  }

  void Report(const FetchFile& file, FetchProgress::State state, int64_t done_bytes) const {
    if (options_.progress) {
      options_.progress({state, &file, &file - spec_.files.data(), done_bytes});
    }
  }

  // Tries the addresses in order.
  void Obtain(const FetchFile& file, const std::string& path) const {
    std::string reasons;
    bool wrong_content = false;
    const std::string part = DownloadName(file, path);
    for (const std::string& base : urls_) {
      const Failure failure = ObtainFrom(base + file.name, file, part);
      if (failure.reason.empty()) {
        if (std::rename(part.c_str(), path.c_str()) != 0) {
          ThrowFileError(path, "replace", errno);
        }
        return;
      }
      wrong_content = wrong_content || failure.wrong_content;
      reasons += fmt::format("{}{}{}: {}", reasons.empty() ? "" : "; ", base, file.name, failure.reason);
    }
    throw Error(wrong_content ? ErrorCode::kBadData : ErrorCode::kNetwork,
                fmt::format("cannot download {}: {}", file.name, reasons), {.remedy = ByHand()});
  }

  // Downloads and verifies one file at one address. A download continued from an earlier one that then turns out wrong
  // is started afresh once: what was there may have been from somewhere else.
  Failure ObtainFrom(const std::string& url, const FetchFile& file, const std::string& part) const {
    bool continued = SizeOrZero(part) > 0;
    while (true) {
      Failure failure = Download(url, file, part);
      if (!failure.reason.empty()) {
        return failure;
      }
      const std::string found = Sha256OfFile(part);
      if (found == file.sha256) {
        return {};
      }
      const int64_t size_bytes = SizeOrZero(part);
      Remove(part);
      if (!continued) {
        return {fmt::format("wrong checksum: expected SHA-256 {} ({} bytes), found {} ({} bytes)", file.sha256,
                            file.size_bytes, found, size_bytes),
                true};
      }
      continued = false;
    }
  }

  // Runs curl until the part is complete, it fails, or it stops gaining. Returns an empty reason for a complete part.
  Failure Download(const std::string& url, const FetchFile& file, const std::string& part) const {
    std::string reason;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (SizeOrZero(part) > file.size_bytes) {
        Remove(part);
      }
      const int64_t before = SizeOrZero(part);
      if (before == file.size_bytes) {
        return {};
      }
      int status = 0;
      reason = RunCurl(url, file, part, status);
      if (status == 0) {
        return {};
      }
      constexpr int kNoRanges = 33;  // the server cannot continue a download
      if (status == kNoRanges) {
        Remove(part);
      } else if (SizeOrZero(part) <= before) {
        break;
      }
    }
    if (SizeOrZero(part) == 0) {
      Remove(part);
    }
    return {reason};
  }

  std::string RunCurl(const std::string& url, const FetchFile& file, const std::string& part, int& status) const {
    ChildProcess curl({"curl",
                       "--disable",
                       "--fail",
                       "--silent",
                       "--show-error",
                       "--location",
                       "--globoff",
                       "--proto",
                       "=http,https,file",
                       "--connect-timeout",
                       std::to_string(options_.connect_timeout_seconds),
                       "--speed-limit",
                       "1",
                       "--speed-time",
                       std::to_string(options_.stall_timeout_seconds),
                       "--continue-at",
                       "-",
                       "--output",
                       part,
                       "--url",
                       url},
                      {.keep_errors = true, .remedy = platform::InstallCommand("curl", "cURL.cURL")});
    if (const Verdict started = curl.started(); !started) {
      status = -1;
      return started.reason;
    }
    while (!curl.Poll()) {
      const int64_t size_bytes = SizeOrZero(part);
      Report(file, FetchProgress::State::kDownloading, size_bytes);
      if (size_bytes > file.size_bytes) {  // not our file, and it may be endless
        break;
      }
      std::this_thread::sleep_for(kPoll);
    }
    status = SizeOrZero(part) > file.size_bytes ? 0 : curl.exit_status();
    const std::string text(Trim(SplitText(curl.error_text(), '\n').front()));
    return text.empty() ? fmt::format("curl ended with status {}", status) : text;
  }

  std::string ByHand() const {
    std::string text = fmt::format("Try again later, or download by hand into the folder {}:", options_.folder);
    for (const FetchFile& file : spec_.files) {
      if (!IsRight(file)) {
        text += fmt::format("\n  {}{}  (SHA-256 {})", urls_.empty() ? "" : urls_.front(), file.name, file.sha256);
      }
    }
    return text;
  }

  const FetchSpec& spec_;
  const FetchOptions& options_;
  std::vector<std::string> urls_;
};

}  // namespace

FetchResult Fetch(const FetchSpec& spec, const FetchOptions& options) { return Fetcher(spec, options).Run(); }

}  // namespace lamina
