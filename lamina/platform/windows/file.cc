// Files by the system's own calls: of the C library only the descriptors, for its opens are others' deletes refused.
#include "lamina/platform/file.h"

#include <io.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

using windows::Failed;
using windows::HandleOf;
using windows::WidePath;

// As on other systems, others may read, write, rename and remove what is open here.
constexpr DWORD kAllShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr DWORD kMost_bytes = 1 << 30;  // of one call

// A handle that closes itself.
class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  ~Handle() {
    if (is_open()) {
      CloseHandle(handle_);
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  bool is_open() const { return handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

// The last error of a path. The system says "not found" also where a name in it is longer than any can be.
bool FailedAt(const std::wstring& path, DWORD error = GetLastError()) {
  constexpr size_t kLongestName = 255;
  size_t begin = 0;
  for (size_t end = 0; end != std::wstring::npos; begin = end + 1) {
    end = path.find_first_of(L"\\/", begin);
    if (std::min(end, path.size()) - begin > kLongestName) {
      return Failed(ERROR_FILENAME_EXCED_RANGE);
    }
  }
  return Failed(error);
}

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
  const Handle file(
      CreateFileW(name.c_str(), FILE_READ_ATTRIBUTES, kAllShare, nullptr, OPEN_EXISTING, flags, nullptr));
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

// FILE_RENAME_INFO as Windows 10 has it: `flags` in the place of ReplaceIfExists.
struct RenameInfo {
  DWORD flags;
  HANDLE root;
  DWORD length_bytes;
  wchar_t name[1];
};
constexpr auto kFileRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
constexpr DWORD kReplace = 0x1, kPosix = 0x2;

// Over a file that is open here or elsewhere, as long as all who have it open let it be removed.
bool RenameOverOpen(const std::wstring& from, const std::wstring& to) {
  const Handle file(CreateFileW(from.c_str(), DELETE | SYNCHRONIZE, kAllShare, nullptr, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!file.is_open()) {
    return false;
  }
  std::vector<std::byte> bytes(sizeof(RenameInfo) + to.size() * sizeof(wchar_t));
  auto* const info = reinterpret_cast<RenameInfo*>(bytes.data());
  *info = {kReplace | kPosix, nullptr, static_cast<DWORD>(to.size() * sizeof(wchar_t)), {}};
  std::memcpy(info->name, to.data(), to.size() * sizeof(wchar_t));
  return SetFileInformationByHandle(file.get(), kFileRenameInfoEx, info, static_cast<DWORD>(bytes.size())) != 0;
}

bool RenameOnce(const std::wstring& old_name, const std::wstring& new_name) {
  if (MoveFileExW(old_name.c_str(), new_name.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0) {
    return true;
  }
  const DWORD error = GetLastError();
  const DWORD attributes = GetFileAttributesW(new_name.c_str());
  if ((error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION) || attributes == INVALID_FILE_ATTRIBUTES) {
    return Failed(error);
  }
  if (RenameOverOpen(old_name, new_name)) {
    return true;
  }
  // The system says "denied" of a file that is open, too: where it may be removed, nothing else is left.
  const bool forbidden = (attributes & (FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_DIRECTORY)) != 0;
  const Handle probe(forbidden ? INVALID_HANDLE_VALUE
                               : CreateFileW(new_name.c_str(), DELETE, kAllShare, nullptr, OPEN_EXISTING, 0, nullptr));
  const DWORD denied = GetLastError();
  return Failed(forbidden ? error : probe.is_open() ? ERROR_SHARING_VIOLATION : denied);
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

bool Exists(const char* path) noexcept {
  const std::wstring name = WidePath(path);
  return GetFileAttributesW(name.c_str()) != INVALID_FILE_ATTRIBUTES || FailedAt(name);
}

bool MayWriteInto(const char* folder) noexcept {
  const std::wstring path = WidePath(folder);
  const DWORD attributes = GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    return FailedAt(path);
  }
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    return Failed(ERROR_DIRECTORY);
  }
  const Handle asked(
      CreateFileW(path.c_str(), FILE_ADD_FILE, kAllShare, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  return asked.is_open() || Failed();
}

bool Remove(const char* path) noexcept { return DeleteFileW(WidePath(path).c_str()) != 0 || Failed(); }
bool RemoveFolder(const char* path) noexcept { return RemoveDirectoryW(WidePath(path).c_str()) != 0 || Failed(); }

bool Rename(const char* from, const char* to) noexcept {
  const std::wstring old_name = WidePath(from);
  const std::wstring new_name = WidePath(to);
  constexpr int kTries = 50;  // of 20 ms: another program, or a worker of lamina, may be reading the file
  for (int tries = 1; tries < kTries; ++tries, Sleep(20)) {
    if (RenameOnce(old_name, new_name)) {
      return true;
    }
    if (errno != EBUSY) {
      return false;
    }
  }
  return RenameOnce(old_name, new_name);
}

bool ExchangeNames(const char*, const char*) noexcept { return false; }
bool Link(const char* from, const char* to) noexcept {
  return CreateHardLinkW(WidePath(to).c_str(), WidePath(from).c_str(), nullptr) != 0 || Failed();
}
bool MakeFolder(const char* path) noexcept {
  const std::wstring name = WidePath(path);
  return CreateDirectoryW(name.c_str(), nullptr) != 0 || FailedAt(name);
}

bool MakeOwnFolder(std::string& path) {  // in the user's own folder for what is temporary
  static std::atomic<uint32_t> count{0};
  do {
    const std::string mark =
        std::to_string(1'000'000 + (GetTickCount64() + GetCurrentProcessId() * 8191 + ++count * 127) % 1'000'000);
    path.replace(path.size() - 6, 6, mark, 1, 6);
  } while (!MakeFolder(path.c_str()) && errno == EEXIST);
  return Exists(path.c_str());
}

void EachName(const std::string& folder, const std::function<void(std::string_view)>& call) {
  struct Closing {
    void operator()(void* search) const { FindClose(search); }
  };
  WIN32_FIND_DATAW found{};
  const HANDLE first = FindFirstFileW(WidePath((folder.empty() ? "." : folder) + "/*").c_str(), &found);
  if (first == INVALID_HANDLE_VALUE) {
    return;
  }
  const std::unique_ptr<void, Closing> search(first);
  do {
    if (const std::string name = windows::Narrow(found.cFileName); name != "." && name != "..") {
      call(name);
    }
  } while (FindNextFileW(first, &found) != 0);
}

}  // namespace lamina::platform
