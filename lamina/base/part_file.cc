// Files that get their name when they are complete.
#include "lamina/base/part_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/file_lock.h"
#include "lamina/base/unfinished_files.h"

namespace lamina {
namespace {

std::filesystem::path FolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

std::string PartName(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

// The process that PartName() was called in; 0 for other names.
pid_t WriterOf(std::string_view name, std::string_view file) {
  constexpr std::string_view kEnd = ".part";
  if (name.size() <= file.size() + 1 + kEnd.size() || !name.starts_with(file) || name[file.size()] != '.' ||
      !name.ends_with(kEnd)) {
    return 0;
  }
  const std::string_view digits = name.substr(file.size() + 1, name.size() - file.size() - 1 - kEnd.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return error == std::errc() && end == digits.data() + digits.size() && pid > 0 ? pid : 0;
}

// Whether this process has not yet looked for parts of this file.
bool IsFirst(const std::string& path) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(path).second;
}

void RemovePartsOfTheDead(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  const std::filesystem::path folder = FolderOf(path);
  // Not a directory_iterator: libstdc++'s ends the process where there is no memory for it.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  for (const dirent* entry = nullptr; entries != nullptr && (entry = readdir(entries.get())) != nullptr;) {
    const pid_t writer = WriterOf(entry->d_name, file);
    if (writer == 0 || kill(writer, 0) == 0 || errno != ESRCH) {
      continue;
    }
    const std::string part = (folder / entry->d_name).string();
    try {
      if (const auto nobodys = FileLock::Take(part)) {  // nor a process of another machine
        unlink(part.c_str());
      }
    } catch (const Error&) {  // gone, or not ours
    }
  }
}

// Opens the part for writing and locks it. Whoever removes the parts of the dead may hold the lock for a moment, and
// the file may be gone after it.
int OpenPart(const std::string& path) {
  constexpr int kTries = 100;
  for (int tried = 0;; ++tried) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return descriptor;
    }
    const bool held = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat info {};
    if (tried == kTries || (!held && fstat(descriptor, &info) == 0 && info.st_nlink > 0)) {
      return descriptor;
    }
    close(descriptor);
    usleep(1000);
  }
}

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

void WriteAt(int descriptor, const void* data, int64_t size_bytes, int64_t offset, const std::string& path) {
  const auto* bytes = static_cast<const char*>(data);
  for (int64_t done = 0; done < size_bytes;) {
    const ssize_t n = pwrite(descriptor, bytes + done, static_cast<size_t>(size_bytes - done), offset + done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      ThrowFileError(path, "write", n < 0 ? errno : ENOSPC);
    }
    done += n;
  }
}

bool IsSpecialFile(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

PartFile::PartFile(std::string path) : path_(std::move(path)) {
  std::error_code error;  // what cannot be asked cannot be created, either
  if (std::filesystem::is_directory(path_, error)) {
    throw Error(ErrorCode::kIo, "is a directory, a file name was expected", {.file = path_});
  }
  if (IsSpecialFile(path_)) {  // /dev/full, pipes and the like cannot be renamed over
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    const auto folder = FolderOf(path_);
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      ThrowFileError(folder.string(), "write into the folder", errno);
    }
    if (IsFirst(path_)) {
      RemovePartsOfTheDead(path_);
    }
    temporary_path_ = PartName(path_);
    descriptor_ = OpenPart(temporary_path_);
  }
  if (descriptor_ < 0) {
    ThrowFileError(path_, "create", errno);
  }
  if (!temporary_path_.empty()) {
    RememberUnfinished(temporary_path_);
  }
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) {
    if (!temporary_path_.empty()) {
      unlink(temporary_path_.c_str());
      ForgetUnfinished(temporary_path_);
    }
    close(descriptor_);
  }
}

void PartFile::Commit() {
  if (!temporary_path_.empty() && fsync(descriptor_) != 0) {
    ThrowFileError(path_, "write", errno);
  }
  const int descriptor = std::exchange(descriptor_, -1);
  ForgetUnfinished(temporary_path_);
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

void RemovePartFiles() noexcept { RemoveUnfinished(); }

}  // namespace lamina
