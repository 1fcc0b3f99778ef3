// Files that get their name when they are complete.
#include "lamina/base/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "lamina/base/error.h"

namespace lamina {
namespace {

std::filesystem::path FolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

std::string PartName(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

}  // namespace

void ThrowFileError(const std::string& path, const std::string& doing, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  std::string remedy;
  if (error == ENOENT) {
    remedy = "Check the path.";
  } else if (error == ENOSPC || error == EDQUOT) {
    remedy = "Free space on that disk or write elsewhere.";
  } else if (error == EFBIG) {
    remedy = "The file system or the shell (ulimit -f) allows no file of that size: write elsewhere.";
  } else if (error == EACCES || error == EROFS) {
    remedy = "Check the permissions or write elsewhere.";
  }
  throw Error(code, fmt::format("cannot {}: {}", doing, std::strerror(error)), {.file = path, .remedy = remedy});
}

int OpenForReading(const std::string& path, struct stat& info) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    ThrowFileError(path, "open", errno);
  }
  if (fstat(descriptor, &info) != 0) {
    const int error = errno;
    close(descriptor);
    ThrowFileError(path, "read", error);
  }
  if (S_ISDIR(info.st_mode)) {
    close(descriptor);
    throw Error(ErrorCode::kIo, "is a directory, a file was expected", {.file = path});
  }
  return descriptor;
}

bool IsSpecialFile(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

PartFile::PartFile(std::string path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_)) {
    throw Error(ErrorCode::kIo, "is a directory, a file name was expected", {.file = path_});
  }
  if (IsSpecialFile(path_)) {  // /dev/full, pipes and the like cannot be renamed over
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    const auto folder = FolderOf(path_);
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      ThrowFileError(folder.string(), "write into the folder", errno);
    }
    temporary_path_ = PartName(path_);
    descriptor_ = open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    ThrowFileError(path_, "create", errno);
  }
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    if (!temporary_path_.empty()) {
      unlink(temporary_path_.c_str());
    }
  }
}

void PartFile::Commit() {
  if (!temporary_path_.empty() && fsync(descriptor_) != 0) {
    ThrowFileError(path_, "write", errno);
  }
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0) {
    const int error = errno;
    unlink(temporary_path_.c_str());
    ThrowFileError(path_, "write", error);
  }
  if (temporary_path_.empty()) {
    return;
  }
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_path_.c_str());
    ThrowFileError(path_, "replace", error);
  }
  const int folder = open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);  // best effort: the rename itself is already atomic
    close(folder);
  }
}

}  // namespace lamina
