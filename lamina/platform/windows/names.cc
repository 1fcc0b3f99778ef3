// Names of files and folders: made, changed and removed.
#include "lamina/platform/file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

using windows::Failed;
using windows::FailedAt;
using windows::Handle;
using windows::kAllShare;
using windows::WidePath;

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
