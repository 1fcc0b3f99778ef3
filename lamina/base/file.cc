// File access through POSIX calls, every failure an Error with the system's reason.
#include "lamina/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "lamina/base/error.h"

namespace lamina {
namespace {

constexpr size_t kPending_bytes = 1 << 20;

[[noreturn]] void ThrowErrno(const std::string& path, const std::string& doing, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  std::string remedy;
  if (error == ENOENT) {
    remedy = "Check the path.";
  } else if (error == ENOSPC || error == EDQUOT) {
    remedy = "Free space on that disk or write elsewhere.";
  } else if (error == EACCES || error == EROFS) {
    remedy = "Check the permissions or write elsewhere.";
  }
  throw Error(code, fmt::format("cannot {}: {}", doing, std::strerror(error)), {.file = path, .remedy = remedy});
}

int OpenRegular(const std::string& path, struct stat& info) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    ThrowErrno(path, "open", errno);
  }
  if (fstat(descriptor, &info) != 0) {
    const int error = errno;
    close(descriptor);
    ThrowErrno(path, "read", error);
  }
  if (S_ISDIR(info.st_mode)) {
    close(descriptor);
    throw Error(ErrorCode::kIo, "is a directory, a file was expected", {.file = path});
  }
  return descriptor;
}

std::filesystem::path FolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

// /dev/full, pipes and the like cannot be renamed over: they are written in place.
bool IsSpecialFile(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

std::string ReadFile(const std::string& path) {
  struct stat info {};
  const int descriptor = OpenRegular(path, info);
  std::string content;
  // Room for one byte more than the file has, so that its end is seen without growing.
  content.resize(S_ISREG(info.st_mode) ? static_cast<size_t>(info.st_size) + 1 : kPending_bytes);
  size_t used = 0;
  while (true) {
    if (used == content.size()) {
      content.resize(content.size() + kPending_bytes);
    }
    const ssize_t n = read(descriptor, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      const int error = errno;
      close(descriptor);
      ThrowErrno(path, "read", error);
    }
    if (n == 0) {
      break;
    }
    used += static_cast<size_t>(n);
  }
  close(descriptor);
  content.resize(used);
  return content;
}

void RequireReadableFile(const std::string& path) {
  struct stat info {};
  close(OpenRegular(path, info));
}

void RequireWritableTarget(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::kIo, "is a directory, a file name was expected", {.file = path});
  }
  if (IsSpecialFile(path)) {
    return;
  }
  const auto folder = FolderOf(path);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    ThrowErrno(folder.string(), "write into the folder", errno);
  }
}

void RequireSeparateFiles(std::span<const NamedPath> written, std::span<const NamedPath> read) {
  const auto canonical = [](const NamedPath& entry) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(entry.path, error);
    const auto path = std::filesystem::weakly_canonical(absolute, error);
    return error ? absolute : path;
  };
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].path.empty() || IsSpecialFile(written[i].path)) {
      continue;
    }
    const auto clashes = [&](const NamedPath& other) {
      if (!other.path.empty() && canonical(other) == canonical(written[i])) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("{} would overwrite the file of {}", written[i].name, other.name),
                    {.value = written[i].path, .remedy = "Give it another name."});
      }
    };
    std::for_each(read.begin(), read.end(), clashes);
    std::for_each(written.begin() + static_cast<ptrdiff_t>(i) + 1, written.end(), clashes);
  }
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  RequireWritableTarget(path_);
  const bool in_place = IsSpecialFile(path_);
  temporary_path_ = in_place ? std::string() : fmt::format("{}.{}.part", path_, getpid());
  descriptor_ = in_place ? open(path_.c_str(), O_WRONLY | O_CLOEXEC)
                         : open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    ThrowErrno(path_, "create", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    if (!temporary_path_.empty()) {
      unlink(temporary_path_.c_str());
    }
  }
}

void AtomicFile::Write(const void* data, size_t size_bytes) {
  pending_.append(static_cast<const char*>(data), size_bytes);
  if (pending_.size() >= kPending_bytes) {
    Flush();
  }
}

void AtomicFile::Flush() {
  size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t n = write(descriptor_, pending_.data() + done, pending_.size() - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      ThrowErrno(path_, "write", errno);
    }
    done += static_cast<size_t>(n);
  }
  pending_.clear();
}

void AtomicFile::Commit() {
  Flush();
  if (!temporary_path_.empty() && fsync(descriptor_) != 0) {
    ThrowErrno(path_, "write", errno);
  }
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0) {
    const int error = errno;
    unlink(temporary_path_.c_str());
    ThrowErrno(path_, "write", error);
  }
  if (temporary_path_.empty()) {
    return;
  }
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_path_.c_str());
    ThrowErrno(path_, "replace", error);
  }
  const int folder = open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);  // best effort: the rename itself is already atomic
    close(folder);
  }
}

void WriteFileAtomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.Write(content);
  file.Commit();
}

}  // namespace lamina
