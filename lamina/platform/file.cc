// POSIX, and Linux where it has more.
#include "lamina/platform/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkostemp, mkdtemp
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace lamina::platform {
namespace {

FileFacts FactsFrom(const struct stat& info) {
  FileFacts facts;
  facts.kind = S_ISREG(info.st_mode)    ? FileFacts::Kind::kFile
               : S_ISDIR(info.st_mode)  ? FileFacts::Kind::kFolder
               : S_ISFIFO(info.st_mode) ? FileFacts::Kind::kPipe
                                        : FileFacts::Kind::kOther;
  facts.size_bytes = info.st_size;
  facts.links = info.st_nlink;
  facts.device = info.st_dev;
  facts.number = info.st_ino;
  return facts;
}

int FlagsOf(OpenFor use) {
  switch (use) {
    case OpenFor::kReading: return O_RDONLY;
    case OpenFor::kReadingOwn: return O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    case OpenFor::kWriting: return O_WRONLY;
    case OpenFor::kCreating: return O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    case OpenFor::kLocking: return O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    case OpenFor::kUpdatingOwn: return O_RDWR | O_NOFOLLOW;
  }
  return O_RDONLY;
}

}  // namespace

std::string ReasonOf(int error) { return std::strerror(error); }
bool IsFullDisk(int error) noexcept { return error == ENOSPC || error == EDQUOT; }
bool IsMissing(int error) noexcept { return error == ENOENT || error == ESTALE; }

std::optional<FileFacts> FactsOf(int descriptor) noexcept {
  struct stat info {};
  return fstat(descriptor, &info) == 0 ? std::optional(FactsFrom(info)) : std::nullopt;
}

std::optional<FileFacts> FactsOf(const char* path) noexcept {
  struct stat info {};
  return lstat(path, &info) == 0 ? std::optional(FactsFrom(info)) : std::nullopt;
}

std::optional<FileFacts> FactsOfTarget(const char* path) noexcept {
  struct stat info {};
  return stat(path, &info) == 0 ? std::optional(FactsFrom(info)) : std::nullopt;
}

int Open(const char* path, OpenFor use) noexcept { return open(path, FlagsOf(use) | O_CLOEXEC, 0666); }
int Duplicate(int descriptor) noexcept { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int OpenNameless(const std::string& folder) {
  std::string path = folder + "/.lamina-XXXXXX";
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor >= 0) {
    unlink(path.c_str());
  }
  return descriptor;
}

bool Close(int descriptor) noexcept { return close(descriptor) == 0; }

ptrdiff_t Read(int descriptor, void* data, size_t size_bytes) noexcept { return read(descriptor, data, size_bytes); }
ptrdiff_t ReadAt(int descriptor, void* data, size_t size_bytes, int64_t offset) noexcept {
  return pread(descriptor, data, size_bytes, offset);
}
ptrdiff_t Write(int descriptor, const void* data, size_t size_bytes) noexcept {
  return write(descriptor, data, size_bytes);
}
ptrdiff_t WriteAt(int descriptor, const void* data, size_t size_bytes, int64_t offset) noexcept {
  return pwrite(descriptor, data, size_bytes, offset);
}

bool Flush(int descriptor) noexcept { return fsync(descriptor) == 0; }

void FlushFolder(const char* folder) noexcept {
  if (const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
}

void BeginFlush(int descriptor, int64_t offset, int64_t size_bytes) noexcept {
#ifdef __linux__
  sync_file_range(descriptor, offset, size_bytes, SYNC_FILE_RANGE_WRITE);
#else
  static_cast<void>(descriptor), static_cast<void>(offset), static_cast<void>(size_bytes);
#endif
}

bool Resize(int descriptor, int64_t size_bytes) noexcept { return ftruncate(descriptor, size_bytes) == 0; }

int Reserve(int descriptor, int64_t size_bytes) noexcept {
#ifdef __linux__
  while (fallocate(descriptor, 0, 0, size_bytes) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) {
      return kNoReserve;
    }
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
#else
  static_cast<void>(descriptor), static_cast<void>(size_bytes);
  return kNoReserve;
#endif
}

Lock TryLock(int descriptor) noexcept {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    return Lock::kTaken;
  }
  return errno == EWOULDBLOCK ? Lock::kHeld : Lock::kNotKnown;
}

bool Exists(const char* path) noexcept { return access(path, F_OK) == 0; }
bool MayWriteInto(const char* folder) noexcept { return access(folder, W_OK | X_OK) == 0; }
bool Remove(const char* path) noexcept { return unlink(path) == 0; }
bool RemoveFolder(const char* path) noexcept { return rmdir(path) == 0; }
bool Rename(const char* from, const char* to) noexcept { return std::rename(from, to) == 0; }

bool ExchangeNames(const char* a, const char* b) noexcept {
#ifdef RENAME_EXCHANGE
  return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
#else
  static_cast<void>(a), static_cast<void>(b);
  return false;
#endif
}

bool Link(const char* from, const char* to) noexcept { return link(from, to) == 0; }
bool MakeFolder(const char* path) noexcept { return mkdir(path, 0777) == 0; }
bool MakeOwnFolder(std::string& path) { return mkdtemp(path.data()) != nullptr; }

// Not a directory_iterator: libstdc++'s ends the process where there is no memory for it.
void EachName(const std::string& folder, const std::function<void(std::string_view)>& call) {
  struct Closing {
    void operator()(DIR* entries) const { closedir(entries); }
  };
  const std::unique_ptr<DIR, Closing> entries(opendir(folder.c_str()));
  for (const dirent* entry = nullptr; entries != nullptr && (entry = readdir(entries.get())) != nullptr;) {
    if (const std::string_view name = entry->d_name; name != "." && name != "..") {
      call(name);
    }
  }
}

}  // namespace lamina::platform
