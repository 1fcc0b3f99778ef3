// Files in a row, the last of which may still be written.
#include "lamina/base/file_set.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "lamina/base/error.h"
#include "lamina/platform/file.h"

namespace lamina {

void MakeFolders(const std::string& folder, std::string_view what) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed && !platform::MakeFolder(folder.c_str())) {
    const bool too_long = errno == ENAMETOOLONG;  // which the standard library calls missing on Windows
    throw Error(ErrorCode::kIo,
                fmt::format("cannot make {}: {}", what, too_long ? platform::ReasonOf(errno) : failed.message()),
                {.file = folder});
  }
}

namespace {

constexpr size_t kLocked = 128;  // that keep their descriptors: a process may have 1,024

bool Exists(const std::string& path) { return platform::FactsOf(path.c_str()).has_value(); }

}  // namespace

FileSet::~FileSet() {
  files_.clear();
  if (!committed_) {
    for (size_t i = made_folders_.size(); i-- > 0;) {
      platform::RemoveFolder(made_folders_[i].c_str());  // not where somebody else has put something into it
    }
  }
}

void FileSet::MakeFolder(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> missing;
  for (std::filesystem::path at(folder); !at.empty() && !std::filesystem::exists(at, failed); at = at.parent_path()) {
    missing.push_back(at.string());
  }
  MakeFolders(folder);
  made_folders_.insert(made_folders_.end(), missing.rbegin(), missing.rend());
}

void FileSet::CompleteLast() {
  if (!files_.empty()) {
    files_.back()->Complete(/*keep_lock=*/files_.size() <= kLocked);
  }
}

AtomicFile& FileSet::Begin(const std::string& path) {
  CompleteLast();
  files_.push_back(std::make_unique<AtomicFile>(path));
  paths_.push_back(path);
  return *files_.back();
}

void FileSet::Add(const std::string& path, std::string_view content) { Begin(path).Write(content); }

void FileSet::Commit() {
  CompleteLast();
  std::vector<std::string> fresh;
  try {
    for (size_t i = 0; i < files_.size(); ++i) {
      const bool replaces = Exists(paths_[i]);
      files_[i]->Commit();
      if (!replaces) {
        fresh.push_back(paths_[i]);
      }
    }
  } catch (...) {
    for (const std::string& path : fresh) {
      platform::Remove(path.c_str());
    }
    throw;
  }
  committed_ = true;
}

}  // namespace lamina
