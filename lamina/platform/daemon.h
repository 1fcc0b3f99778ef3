// What a process asks that runs for weeks: signals that it waits for, files that others replace, a log.
#pragma once

#include <cstdint>

namespace lamina::platform {

/// From now on SIGTERM, SIGINT and SIGHUP come through NextWish() alone: the calling thread and those that it starts
/// block them.
void HoldWishes() noexcept;
enum class Wish {
  kNone,
  kEnd,   // SIGTERM, SIGINT
  kRenew  // SIGHUP
};
/// Waits for a signal that HoldWishes() holds; kNone where none came in time. Below 0: waits for ever.
Wish NextWish(double seconds) noexcept;

/// When a file was written, and which it is: a rename brings another. All 0 where there is none.
struct FileStamp {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  int64_t size_bytes = 0;
  uint64_t number = 0;
  bool operator==(const FileStamp&) const = default;
};
/// What the name leads to.
FileStamp StampOf(const char* path) noexcept;

/// A descriptor that appends, to a new file (readable by its owner and group) where it is missing; -1 where it cannot
/// be.
int OpenLog(const char* path) noexcept;
/// As many files as the system lets this process have open.
void RaiseFileLimit() noexcept;

}  // namespace lamina::platform
