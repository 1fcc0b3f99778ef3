// Texts and errors of Windows.
#include "lamina/platform/windows/system.h"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace lamina::platform::windows {
namespace {

// MAX_PATH less the 12 characters that a folder needs for the names in it.
constexpr size_t kUsualPath = 248;

constexpr std::pair<DWORD, int> kErrors[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                                             {ERROR_PATH_NOT_FOUND, ENOENT},
                                             {ERROR_INVALID_DRIVE, ENOENT},
                                             {ERROR_BAD_NETPATH, ENOENT},
                                             {ERROR_BAD_NET_NAME, ENOENT},
                                             {ERROR_INVALID_NAME, ENOENT},
                                             {ERROR_BAD_PATHNAME, ENOENT},
                                             {ERROR_ACCESS_DENIED, EACCES},
                                             {ERROR_NETWORK_ACCESS_DENIED, EACCES},
                                             {ERROR_PRIVILEGE_NOT_HELD, EACCES},
                                             {ERROR_CANT_ACCESS_FILE, EACCES},
                                             {ERROR_WRITE_PROTECT, EROFS},
                                             {ERROR_SHARING_VIOLATION, EBUSY},
                                             {ERROR_LOCK_VIOLATION, EBUSY},
                                             {ERROR_USER_MAPPED_FILE, EBUSY},
                                             {ERROR_BUSY, EBUSY},
                                             {ERROR_DRIVE_LOCKED, EBUSY},
                                             {ERROR_FILE_EXISTS, EEXIST},
                                             {ERROR_ALREADY_EXISTS, EEXIST},
                                             {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
                                             {ERROR_DIRECTORY, ENOTDIR},
                                             {ERROR_DISK_FULL, ENOSPC},
                                             {ERROR_HANDLE_DISK_FULL, ENOSPC},
                                             {ERROR_FILE_TOO_LARGE, EFBIG},
                                             {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                                             {ERROR_BUFFER_OVERFLOW, ENAMETOOLONG},
                                             {ERROR_NOT_SAME_DEVICE, EXDEV},
                                             {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
                                             {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                                             {ERROR_OUTOFMEMORY, ENOMEM},
                                             {ERROR_COMMITMENT_LIMIT, ENOMEM},
                                             {ERROR_INVALID_HANDLE, EBADF},
                                             {ERROR_BROKEN_PIPE, EPIPE},
                                             {ERROR_NO_DATA, EPIPE},
                                             {ERROR_INVALID_PARAMETER, EINVAL},
                                             {ERROR_NOT_SUPPORTED, ENOSYS},
                                             {ERROR_INVALID_FUNCTION, ENOSYS},
                                             {ERROR_BAD_EXE_FORMAT, ENOEXEC},
                                             {WSAEACCES, EACCES},
                                             {WSAEADDRINUSE, EADDRINUSE},
                                             {WSAEADDRNOTAVAIL, EADDRNOTAVAIL},
                                             {WSAEAFNOSUPPORT, EAFNOSUPPORT},
                                             {WSAEMFILE, EMFILE},
                                             {WSAENOBUFS, ENOBUFS}};

}  // namespace

std::wstring Wide(std::string_view text, UINT code_page) {
  const int size = static_cast<int>(text.size());
  std::wstring wide(static_cast<size_t>(MultiByteToWideChar(code_page, 0, text.data(), size, nullptr, 0)), L'\0');
  MultiByteToWideChar(code_page, 0, text.data(), size, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string Narrow(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  std::string narrow(
      static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, text.data(), size, nullptr, 0, nullptr, nullptr)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), size, narrow.data(), static_cast<int>(narrow.size()), nullptr, nullptr);
  return narrow;
}

std::wstring WidePath(std::string_view path) {
  std::wstring wide = Wide(path);
  if (wide.size() < kUsualPath && !wide.empty()) {
    // A relative one counts with the folder that it is in.
    const bool absolute = wide[0] == L'\\' || wide[0] == L'/' || (wide.size() > 1 && wide[1] == L':');
    if (absolute || wide.size() + GetCurrentDirectoryW(0, nullptr) < kUsualPath) {
      return wide;
    }
  }
  if (wide.empty() || wide.starts_with(L"\\\\?\\") || wide.starts_with(L"\\\\.\\")) {
    return wide;
  }
  std::wstring full(GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr), L'\0');  // with its end
  full.resize(GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
  if (full.empty() || full.starts_with(L"\\\\.\\")) {  // "\\.\NUL"
    return wide;
  }
  return full.starts_with(L"\\\\") ? L"\\\\?\\UNC\\" + full.substr(2) : L"\\\\?\\" + full;
}

int ErrnoOf(DWORD error) noexcept {
  for (const auto& [windows, number] : kErrors) {
    if (windows == error) {
      return number;
    }
  }
  return EIO;
}

bool Failed(DWORD error) noexcept {
  errno = ErrnoOf(error);
  return false;
}

bool FailedAt(const std::wstring& path, DWORD error) noexcept {
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

HANDLE HandleOf(int descriptor) noexcept { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

int DescriptorOf(HANDLE handle) noexcept {
  const int descriptor = _open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) {
    CloseHandle(handle);
    errno = EMFILE;
  }
  return descriptor;
}

}  // namespace lamina::platform::windows
