// What the implementations for Windows share: its header, texts in UTF-16, errors as errno has them.
#pragma once

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <winsock2.h>
// after winsock2.h, which would be its own older form otherwise
#include <windows.h>

#include <string>
#include <string_view>

namespace lamina::platform::windows {

/// UTF-8, or the text of another code page, as UTF-16, and back; what is no character becomes U+FFFD.
std::wstring Wide(std::string_view text, UINT code_page = CP_UTF8);
std::string Narrow(std::wstring_view text);

/// A path for the system: one that is too long for its usual form has the form without that limit, "\\?\C:\...".
std::wstring WidePath(std::string_view path);

/// The number of errno for GetLastError()'s.
int ErrnoOf(DWORD error) noexcept;
/// Sets errno; false, for those that return it.
bool Failed(DWORD error = GetLastError()) noexcept;
/// The same of a path. The system says "not found" also where a name in it is longer than any can be.
bool FailedAt(const std::wstring& path, DWORD error = GetLastError()) noexcept;

/// As on other systems, others may read, write, rename and remove what is open here.
inline constexpr DWORD kAllShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// A handle that closes itself.
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

/// The system's handle of a descriptor; INVALID_HANDLE_VALUE where it has none.
HANDLE HandleOf(int descriptor) noexcept;
/// A descriptor of a handle, which it owns from now on; -1, with the handle closed, where there is none.
int DescriptorOf(HANDLE handle) noexcept;

}  // namespace lamina::platform::windows
