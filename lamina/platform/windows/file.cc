// Files by the system's own calls: of the C library only the descriptors, for its opens are others' deletes refused.
#include "lamina/platform/file.h"

#include <io.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

using windows::Failed;
using windows::FailedAt;
using windows::Handle;
using windows::HandleOf;
using windows::kAllShare;
using windows::WidePath;

constexpr DWORD kMost_bytes = 1 << 30;  // of one call

std::optional<FileFacts> FactsFrom(HANDLE handle) {
  FileFacts facts;
  SetLastError(NO_ERROR);
  const DWORD type = GetFileType(handle);
  if (type != FILE_TYPE_DISK) {
    if (type == FILE_TYPE_UNKNOWN && GetLastError() != NO_ERROR) {
      Failed();
      return std::nullopt;
    }
    facts.kind = type == FILE_TYPE_PIPE ? FileFacts::Kind::kPipe : FileFacts::Kind::kOther;
    facts.links = 1;
    return facts;
  }
  BY_HANDLE_FILE_INFORMATION info{};
  if (GetFileInformationByHandle(handle, &info) == 0) {
    const DWORD error = GetLastError();
    LARGE_INTEGER size{};
    if (GetFileSizeEx(handle, &size) == 0) {
      Failed(error);
      return std::nullopt;
    }
    facts.kind = FileFacts::Kind::kFile;  // without a name that could be told, as Wine's standard input
    facts.size_bytes = size.QuadPart;
    facts.links = 1;
    return facts;
  }
  facts.kind =
      (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileFacts::Kind::kFolder : FileFacts::Kind::kFile;
  facts.size_bytes = static_cast<int64_t>(uint64_t{info.nFileSizeHigh} << 32U | info.nFileSizeLow);
  facts.links = info.nNumberOfLinks;
  facts.device = info.dwVolumeSerialNumber;
  facts.number = uint64_t{info.nFileIndexHigh} << 32U | info.nFileIndexLow;
  return facts;
}

// Facts of a name; a link is kOther where it is not `followed`.
std::optional<FileFacts> FactsByName(const char* path, bool followed) {
  const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (followed ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
  const std::wstring name = WidePath(path);
  const Handle file(CreateFileW(name.c_str(), FILE_READ_ATTRIBUTES, kAllShare, nullptr, OPEN_EXISTING, flags, nullptr));
  if (!file.is_open()) {
    FailedAt(name);
    return std::nullopt;
  }
  std::optional<FileFacts> facts = FactsFrom(file.get());
  FILE_ATTRIBUTE_TAG_INFO tag{};
  if (facts && !followed && GetFileInformationByHandleEx(file.get(), FileAttributeTagInfo, &tag, sizeof tag) != 0 &&
      (tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 && IsReparseTagNameSurrogate(tag.ReparseTag)) {
    facts->kind = FileFacts::Kind::kOther;  // a link or a junction; files that a cloud holds are files
  }
  return facts;
}

// The names that scripts use on other systems for the standard streams, and that lamina itself uses for "-".
int StreamNamed(const char* path) {
  const std::string_view name = path;
  return name == "/dev/stdin" ? 0 : name == "/dev/stdout" ? 1 : name == "/dev/stderr" ? 2 : -1;
}

struct OpenPlan {
  DWORD access;
  DWORD creation;
  bool follows;
};

OpenPlan PlanOf(OpenFor use) {
  switch (use) {
    case OpenFor::kReading: return {GENERIC_READ, OPEN_EXISTING, true};
    case OpenFor::kReadingOwn: return {GENERIC_READ, OPEN_EXISTING, false};
    case OpenFor::kWriting: return {GENERIC_WRITE, OPEN_EXISTING, true};
    case OpenFor::kCreating: return {GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_NEW, false};
    case OpenFor::kLocking: return {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, false};
    case OpenFor::kUpdatingOwn: return {GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, false};
  }
  return {GENERIC_READ, OPEN_EXISTING, true};
}

// The last error's, but for what the system calls denied and others by its name: a folder is no file to write.
int RefusedOpen(const std::wstring& path, DWORD error) {
  const DWORD attributes = error == ERROR_ACCESS_DENIED ? GetFileAttributesW(path.c_str()) : 0;
  FailedAt(path, error);
  if (error == ERROR_ACCESS_DENIED && attributes != INVALID_FILE_ATTRIBUTES &&
      (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    errno = EISDIR;
  }
  return -1;
}

OVERLAPPED At(int64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(static_cast<uint64_t>(offset) >> 32U);
  return place;
}

ptrdiff_t ReadBy(int descriptor, void* data, size_t size_bytes, OVERLAPPED* place) {
  DWORD n = 0;
  const auto most = static_cast<DWORD>(std::min<size_t>(size_bytes, kMost_bytes));
  if (ReadFile(HandleOf(descriptor), data, most, &n, place) == 0) {
    const DWORD error = GetLastError();
    if (error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE) {
      return 0;
    }
    Failed(error);
    return -1;
  }
  return static_cast<ptrdiff_t>(n);
}

ptrdiff_t WriteBy(int descriptor, const void* data, size_t size_bytes, OVERLAPPED* place) {
  DWORD n = 0;
  const auto most = static_cast<DWORD>(std::min<size_t>(size_bytes, kMost_bytes));
  if (WriteFile(HandleOf(descriptor), data, most, &n, place) == 0) {
    Failed();
    return -1;
  }
  return static_cast<ptrdiff_t>(n);
}

bool SetEnd(HANDLE file, int64_t size_bytes) {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = size_bytes;
  return SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof end) != 0 || Failed();
}

}  // namespace

std::string ReasonOf(int error) {
  switch (error) {
    case EBUSY: return "another program has it open";
    case EADDRINUSE: return "Address already in use";  // the C library has words for the oldest numbers alone
    case EADDRNOTAVAIL: return "Cannot assign requested address";
    case EAFNOSUPPORT: return "Address family not supported by protocol";
    case ELOOP: return "Too many levels of symbolic links";
    default: return std::strerror(error);
  }
}
bool IsFullDisk(int error) noexcept { return error == ENOSPC; }
bool IsMissing(int error) noexcept { return error == ENOENT; }

std::optional<FileFacts> FactsOf(int descriptor) noexcept { return FactsFrom(HandleOf(descriptor)); }
std::optional<FileFacts> FactsOf(const char* path) noexcept { return FactsByName(path, /*followed=*/false); }
std::optional<FileFacts> FactsOfTarget(const char* path) noexcept {
  const int stream = StreamNamed(path);
  return stream < 0 ? FactsByName(path, /*followed=*/true) : FactsOf(stream);
}

int Open(const char* path, OpenFor use) noexcept {
  if (const int stream = StreamNamed(path); stream >= 0) {
    return Duplicate(stream);
  }
  const OpenPlan plan = PlanOf(use);
  // Folders can be opened to read, so that those who asked for a file can say what it is.
  const DWORD flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS |
                      (plan.follows || plan.creation == CREATE_NEW ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
  const std::wstring name = WidePath(path);
  const HANDLE file = CreateFileW(name.c_str(), plan.access, kAllShare, nullptr, plan.creation, flags, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    return RefusedOpen(name, GetLastError());
  }
  const int descriptor = windows::DescriptorOf(file);
  if (descriptor >= 0 && !plan.follows && plan.creation != CREATE_NEW) {
    FILE_ATTRIBUTE_TAG_INFO tag{};
    if (GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof tag) != 0 &&
        (tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 && IsReparseTagNameSurrogate(tag.ReparseTag)) {
      _close(descriptor);
      errno = ELOOP;
      return -1;
    }
  }
  return descriptor;
}

int Duplicate(int descriptor) noexcept {
  HANDLE copy = nullptr;
  if (DuplicateHandle(GetCurrentProcess(), HandleOf(descriptor), GetCurrentProcess(), &copy, 0, FALSE,
                      DUPLICATE_SAME_ACCESS) == 0) {
    Failed();
    return -1;
  }
  return windows::DescriptorOf(copy);
}

int OpenNameless(const std::string& folder) {
  static std::atomic<uint32_t> count{0};  // the process and the time are in it, too
  for (int tries = 0; tries < 100; ++tries) {
    const std::string path = folder + "/.lamina-" + std::to_string(GetCurrentProcessId()) + "-" +
                             std::to_string(GetTickCount64()) + "-" + std::to_string(++count);
    const HANDLE file = CreateFileW(WidePath(path).c_str(), GENERIC_READ | GENERIC_WRITE | DELETE, kAllShare, nullptr,
                                    CREATE_NEW, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
    if (file != INVALID_HANDLE_VALUE) {
      return windows::DescriptorOf(file);
    }
    if (GetLastError() != ERROR_FILE_EXISTS) {
      break;
    }
  }
  Failed();
  return -1;
}

bool Close(int descriptor) noexcept { return _close(descriptor) == 0; }

ptrdiff_t Read(int descriptor, void* data, size_t size_bytes) noexcept {
  return ReadBy(descriptor, data, size_bytes, nullptr);
}
ptrdiff_t ReadAt(int descriptor, void* data, size_t size_bytes, int64_t offset) noexcept {
  OVERLAPPED place = At(offset);
  return ReadBy(descriptor, data, size_bytes, &place);
}
ptrdiff_t Write(int descriptor, const void* data, size_t size_bytes) noexcept {
  return WriteBy(descriptor, data, size_bytes, nullptr);
}
ptrdiff_t WriteAt(int descriptor, const void* data, size_t size_bytes, int64_t offset) noexcept {
  OVERLAPPED place = At(offset);
  return WriteBy(descriptor, data, size_bytes, &place);
}

bool Flush(int descriptor) noexcept { return FlushFileBuffers(HandleOf(descriptor)) != 0 || Failed(); }
void FlushFolder(const char*) noexcept {}  // NTFS keeps a journal of its names
void BeginFlush(int, int64_t, int64_t) noexcept {}
bool Resize(int descriptor, int64_t size_bytes) noexcept { return SetEnd(HandleOf(descriptor), size_bytes); }

int Reserve(int descriptor, int64_t size_bytes) noexcept {  // NTFS gives a file the clusters of its whole size
  return SetEnd(HandleOf(descriptor), size_bytes) ? 0 : errno;
}

// Locks of Windows keep others from reading what is locked, so it is one byte far behind any file's end.
Lock TryLock(int descriptor) noexcept {
  constexpr int64_t kFarBehind = int64_t{1} << 62;
  OVERLAPPED place = At(kFarBehind);
  if (LockFileEx(HandleOf(descriptor), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0) {
    return Lock::kTaken;
  }
  const DWORD error = GetLastError();
  return error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING ? Lock::kHeld : Lock::kNotKnown;
}

}  // namespace lamina::platform
