// What a service asks of Windows, as far as it runs in a console.
#include "lamina/platform/daemon.h"

#include <algorithm>
#include <atomic>

#include "lamina/platform/file.h"
#include "lamina/platform/process.h"
#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

std::atomic<HANDLE> wish{nullptr};  // an event

}  // namespace

void HoldWishes() noexcept {
  if (wish.load() == nullptr) {
    wish.store(CreateEventW(nullptr, /*bManualReset=*/FALSE, /*bInitialState=*/FALSE, nullptr));
    OnEndRequests([](int) { SetEvent(wish.load()); });
  }
}

Wish NextWish(double seconds) noexcept {
  constexpr double kMost_ms = 1e9;
  const DWORD time_ms = seconds < 0 ? INFINITE : static_cast<DWORD>(std::min(seconds * 1e3, kMost_ms));
  return WaitForSingleObject(wish.load(), time_ms) == WAIT_OBJECT_0 ? Wish::kEnd : Wish::kNone;
}

FileStamp StampOf(const char* path) noexcept {
  const std::optional<FileFacts> facts = FactsOfTarget(path);
  WIN32_FILE_ATTRIBUTE_DATA data{};
  if (!facts || GetFileAttributesExW(windows::WidePath(path).c_str(), GetFileExInfoStandard, &data) == 0) {
    return {};
  }
  constexpr uint64_t kPerSecond = 10'000'000;
  const uint64_t written = uint64_t{data.ftLastWriteTime.dwHighDateTime} << 32U | data.ftLastWriteTime.dwLowDateTime;
  return {static_cast<int64_t>(written / kPerSecond), static_cast<int64_t>(written % kPerSecond * 100),
          facts->size_bytes, facts->number};
}

int OpenLog(const char* path) noexcept {
  const HANDLE log = CreateFileW(windows::WidePath(path).c_str(), FILE_APPEND_DATA,
                                 FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_ALWAYS,
                                 FILE_ATTRIBUTE_NORMAL, nullptr);
  if (log == INVALID_HANDLE_VALUE) {
    windows::Failed();
    return -1;
  }
  return windows::DescriptorOf(log);
}

void RaiseFileLimit() noexcept {}

}  // namespace lamina::platform
