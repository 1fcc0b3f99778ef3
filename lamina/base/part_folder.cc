// Folders that get their names when they are complete.
#include "lamina/base/part_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"

namespace lamina {
namespace {

namespace fs = std::filesystem;

// Names in `folder`; none where it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  // Not a directory_iterator: libstdc++'s ends the process where there is no memory for it.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  for (const dirent* entry = nullptr; entries != nullptr && (entry = readdir(entries.get())) != nullptr;) {
    if (const std::string_view name = entry->d_name; name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  return names;
}

bool IsOwn(const std::string& folder, const std::string& name, const PartFolder::Owns& owns) {
  const std::string_view file = FileOfPart(name);
  struct stat info {};
  return owns(file.empty() ? std::string_view(name) : file) && lstat((fs::path(folder) / name).c_str(), &info) == 0 &&
         S_ISREG(info.st_mode);
}

// Leaves what is not of this kind, and then the folder around it.
void RemoveOwn(const std::string& folder, const PartFolder::Owns& owns) {
  for (const std::string& name : NamesIn(folder)) {
    if (IsOwn(folder, name, owns)) {
      unlink((fs::path(folder) / name).c_str());
    }
  }
  rmdir(folder.c_str());
}

// Removes what killed processes left; nobody else writes, as the caller has the claim on `path`.
void RemoveAbandonedFolders(const std::string& path, const PartFolder::Owns& owns) {
  const fs::path above = fs::path(path).parent_path();
  for (const std::string& name : NamesIn(above.string())) {
    const std::string folder = (above / name).string();
    struct stat info {};
    if (FileOfPart(name) == fs::path(path).filename() && lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      RemoveOwn(folder, owns);
    }
  }
}

}  // namespace

void RequireReplaceable(const std::string& path, const PartFolder::Owns& owns) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return;
  }
  if (!S_ISDIR(info.st_mode)) {
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
  } while (mkdir(part_.c_str(), 0777) != 0 && errno == EEXIST);
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
  struct stat info {};
  if (lstat(path_.c_str(), &info) != 0) {
    if (rename(part_.c_str(), path_.c_str()) != 0) {
      ThrowFileError(path_, "name the folder", errno);
    }
    return;
  }
  // What was there gets the name of the part, which the destructor removes.
  if (renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    return;
  }
  const std::string old = NewPartName(path_);  // a file system that cannot exchange names
  if (rename(path_.c_str(), old.c_str()) != 0) {
    ThrowFileError(path_, "replace the folder", errno);
  }
  if (rename(part_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    if (rename(old.c_str(), path_.c_str()) != 0) {
      ThrowFileError(path_, "give back its name to the folder " + old, errno);
    }
    ThrowFileError(path_, "name the folder", error);
  }
  RemoveOwn(old, owns_);
}

}  // namespace lamina
