// Files that get their name when they are complete.
#include "lamina/base/part_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/unfinished_files.h"

namespace lamina {
namespace {

std::filesystem::path FolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

constexpr std::string_view kPartBegin = ".lamina-";
constexpr std::string_view kPartEnd = ".part";
constexpr size_t kMark_chars = 16;

uint32_t Mixed(uint64_t number) {  // the end of SplitMix64
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<uint32_t>(number ^ (number >> 31));
}

// A number that no other part has, and a sum of it with the file's name: a person does not come upon it.
std::string MarkFor(std::string_view file, uint32_t number) {
  uint64_t sum = 0xCBF29CE484222325ULL ^ number;
  for (const char c : file) {  // FNV-1a
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return fmt::format("{:08x}{:08x}", number, Mixed(sum));
}

uint32_t NewNumber() {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return Mixed(Mixed(static_cast<uint64_t>(now)) + (static_cast<uint64_t>(getpid()) << 32U) + 0x9E3779B9U * ++count);
}

// Whether this process has not yet looked for parts of this file.
bool IsFirst(const std::string& path) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(path).second;
}

// The descriptor of `path` where nobody else holds its lock, else -1: its writer lives, or locks are not known here.
int TakeAbandoned(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info {};
  if (descriptor >= 0 && (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1 ||
                          flock(descriptor, LOCK_EX | LOCK_NB) != 0)) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

}  // namespace

bool IsNameOf(const std::string& path, int descriptor) {
  struct stat named {};
  struct stat opened {};
  return lstat(path.c_str(), &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

std::string OwnName(const std::string& target, uint32_t number, std::string_view ending) {
  const std::string file = std::filesystem::path(target).filename().string();
  return fmt::format("{}{}{}{}", target, kPartBegin, MarkFor(file, number), ending);
}

std::string NewPartName(const std::string& target) { return OwnName(target, NewNumber(), kPartEnd); }

std::string_view FileOfPart(std::string_view name) {
  constexpr size_t kAdded = kPartBegin.size() + kMark_chars + kPartEnd.size();
  if (name.size() <= kAdded || !name.ends_with(kPartEnd)) {
    return {};
  }
  const std::string_view file = name.substr(0, name.size() - kAdded);
  const std::string_view mark = name.substr(file.size() + kPartBegin.size(), kMark_chars);
  uint32_t number = 0;
  const auto [end, failed] = std::from_chars(mark.data(), mark.data() + kMark_chars / 2, number, 16);
  const bool ours = name.substr(file.size(), kPartBegin.size()) == kPartBegin && failed == std::errc() &&
                    end == mark.data() + kMark_chars / 2 && mark == MarkFor(file, number);
  return ours ? file : std::string_view();
}

void ThrowFileError(const std::string& path, const std::string& doing, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  std::string remedy;
  if (error == ENOENT) {
    remedy = "Check the path.";
  } else if (error == ENOSPC || error == EDQUOT) {
    remedy = "Free space on that disk or write elsewhere.";
  } else if (error == EFBIG) {
    remedy = "The file system or the shell (ulimit -f) allows no file of that size: write elsewhere.";
  } else if (error == ENOTDIR) {
    remedy = "Name a folder.";
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

// Whoever looks for abandoned parts may take a new one for such before its lock: it is then gone, or about to go.
CreatedPart CreatePart(const std::string& target) {
  while (true) {
    CreatedPart part{.path = NewPartName(target)};
    part.descriptor = open(part.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (part.descriptor < 0) {
      if (errno == EEXIST) {
        continue;
      }
      ThrowFileError(target, "create", errno);
    }
    const bool held = flock(part.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!held && IsNameOf(part.path, part.descriptor)) {
      return part;
    }
    close(part.descriptor);
  }
}

void RemoveAbandonedParts(const std::string& folder, const std::function<bool(std::string_view)>& which) {
  // Not a directory_iterator: libstdc++'s ends the process where there is no memory for it.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  for (const dirent* entry = nullptr; entries != nullptr && (entry = readdir(entries.get())) != nullptr;) {
    const std::string_view name = entry->d_name;
    if (const std::string_view file = FileOfPart(name); file.empty() || !which(file)) {
      continue;
    }
    const std::string part = (std::filesystem::path(folder) / name).string();
    const int descriptor = TakeAbandoned(part);
    if (descriptor < 0) {
      continue;
    }
    if (IsNameOf(part, descriptor)) {  // not of a file that has its final name by now
      unlink(part.c_str());
    }
    close(descriptor);
  }
}

PartFile::PartFile(std::string path) : path_(std::move(path)) {
  std::error_code error;  // what cannot be asked cannot be created, either
  if (std::filesystem::is_directory(path_, error)) {
    throw Error(ErrorCode::kIo, "is a directory, a file name was expected", {.file = path_});
  }
  if (IsSpecialFile(path_)) {  // /dev/full, pipes and the like cannot be renamed over
    in_place_ = true;
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    const auto folder = FolderOf(path_);
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      const int denied = errno;
      const bool is_file = std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error);
      ThrowFileError(folder.string(), "write into the folder", is_file ? ENOTDIR : denied);
    }
    if (IsFirst(path_)) {
      const std::string file = std::filesystem::path(path_).filename().string();
      RemoveAbandonedParts(folder.string(), [&](std::string_view of) { return of == file; });
    }
    CreatedPart part = CreatePart(path_);
    temporary_path_ = std::move(part.path);
    descriptor_ = part.descriptor;
  }
  if (descriptor_ < 0) {
    ThrowFileError(path_, "create", errno);
  }
  if (!temporary_path_.empty()) {
    RememberUnfinished(temporary_path_);
  }
}

PartFile::~PartFile() {
  if (!temporary_path_.empty()) {
    unlink(temporary_path_.c_str());
    ForgetUnfinished(temporary_path_);
  }
  for (const int descriptor : {descriptor_, lock_}) {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
}

void PartFile::Complete(bool keep_lock) {
  if (descriptor_ < 0) {
    return;
  }
  if (!in_place_) {
    // A second descriptor holds the lock until the part has its final name, as closing the first may still fail.
    if (fsync(descriptor_) != 0 || (keep_lock && (lock_ = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0)) < 0)) {
      ThrowFileError(path_, "write", errno);
    }
  }
  if (close(std::exchange(descriptor_, -1)) != 0) {
    ThrowFileError(path_, "write", errno);
  }
}

void PartFile::Commit() {
  Complete();
  if (in_place_) {
    return;
  }
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    ThrowFileError(path_, "replace", errno);
  }
  ForgetUnfinished(std::exchange(temporary_path_, {}));
  if (lock_ >= 0) {
    close(std::exchange(lock_, -1));
  }
  const int folder = open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);  // best effort: the rename itself is already atomic
    close(folder);
  }
}

void RemovePartFiles() noexcept { RemoveUnfinished(); }

}  // namespace lamina
