// Folders that get their names when they are complete.
#include "lamina/base/part_folder.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/platform/file.h"

namespace lamina {
namespace {

namespace fs = std::filesystem;

// Names in `folder`; none where it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  platform::EachName(folder, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

bool IsOwn(const std::string& folder, const std::string& name, const PartFolder::Owns& owns) {
  const std::string_view file = FileOfPart(name);
  if (!owns(file.empty() ? std::string_view(name) : file)) {
    return false;
  }
  const auto facts = platform::FactsOf((fs::path(folder) / name).string().c_str());
  return facts && facts->is_file();
}

// Leaves what is not of this kind, and then the folder around it.
void RemoveOwn(const std::string& folder, const PartFolder::Owns& owns) {
  for (const std::string& name : NamesIn(folder)) {
    if (IsOwn(folder, name, owns)) {
      platform::Remove((fs::path(folder) / name).string().c_str());
    }
  }
  platform::RemoveFolder(folder.c_str());
}

// Removes what killed processes left; nobody else writes, as the caller has the claim on `path`.
void RemoveAbandonedFolders(const std::string& path, const PartFolder::Owns& owns) {
  const fs::path above = fs::path(path).parent_path();
  for (const std::string& name : NamesIn(above.string())) {
    const std::string folder = (above / name).string();
    const auto facts = platform::FactsOf(folder.c_str());
    if (FileOfPart(name) == fs::path(path).filename() && facts && facts->is_folder()) {
      RemoveOwn(folder, owns);
    }
  }
}

}  // namespace

void RequireReplaceable(const std::string& path, const PartFolder::Owns& owns) {
  const auto facts = platform::FactsOf(path.c_str());
  if (!facts) {
    return;
  }
  if (!facts->is_folder()) {
    throw Error(ErrorCode::kIo, "is there and is no folder", {.file = path, .remedy = "Give another name."});
  }
  for (const std::string& name : NamesIn(path)) {
    if (!IsOwn(path, name, owns)) {
      throw Error(ErrorCode::kIo, "holds something that lamina did not write, which would be lost with the folder",
                  {.file = path, .value = name, .remedy = "Move it, or give another name for the folder."});
    }
  }
}

PartFolder::PartFolder(const std::string& path, Owns owns) : path_(path), owns_(std::move(owns)) {
  RequireReplaceable(path_, owns_);
  claim_ = FileClaim::Take(path_);
  RemoveAbandonedFolders(path_, owns_);
  do {
    part_ = NewPartName(path_);
  } while (!platform::MakeFolder(part_.c_str()) && errno == EEXIST);
  std::error_code failed;
  if (!fs::is_directory(part_, failed)) {
    ThrowFileError(path_, "make the folder", errno);
  }
}

PartFolder::~PartFolder() {
  try {
    RemoveOwn(part_, owns_);
  } catch (const std::bad_alloc&) {  // the next one removes it
  }
}

void PartFolder::Commit() {
  RequireReplaceable(path_, owns_);
  if (!platform::FactsOf(path_.c_str())) {
    if (!platform::Rename(part_.c_str(), path_.c_str())) {
      ThrowFileError(path_, "name the folder", errno);
    }
    return;
  }
  // What was there gets the name of the part, which the destructor removes.
  if (platform::ExchangeNames(part_.c_str(), path_.c_str())) {
    return;
  }
  const std::string old = NewPartName(path_);  // a file system that cannot exchange names
  if (!platform::Rename(path_.c_str(), old.c_str())) {
    ThrowFileError(path_, "replace the folder", errno);
  }
  if (!platform::Rename(part_.c_str(), path_.c_str())) {
    const int error = errno;
    if (!platform::Rename(old.c_str(), path_.c_str())) {
      ThrowFileError(path_, "give back its name to the folder " + old, errno);
    }
    ThrowFileError(path_, "name the folder", error);
  }
  RemoveOwn(old, owns_);
}

}  // namespace lamina
