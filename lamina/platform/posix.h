// What POSIX leaves to each system: platform/linux and platform/macos have it. For the sources of lamina/platform
// alone.
#pragma once

#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <optional>

namespace lamina::platform {

/// What ThreadClock keeps of the processor time of a thread; nothing where it has none.
std::optional<int64_t> ClockNumberOf(pthread_t thread) noexcept;
/// -1 where it cannot be asked.
int64_t TimeOf_ns(clockid_t clock) noexcept;

/// Descriptors that no child inherits. -1 or false, and errno, where none can be had.
/// `waits`: whether reading from it and writing to it wait.
int OpenSocket(int family, int kind, bool waits) noexcept;
/// Accepts a connection; reading from it and writing to it do not wait.
int AcceptSocket(int listening, sockaddr_storage& address) noexcept;
bool OpenPipe(std::array<int, 2>& ends) noexcept;
bool OpenSocketPair(std::array<int, 2>& ends) noexcept;

/// Takes one of these signals, which are blocked: its number, or -1 where none came. `most` null: waits for ever.
int WaitForSignal(const sigset_t& set, const timespec* most) noexcept;

/// When its content changed.
timespec TimeOfChange(const struct stat& status) noexcept;

}  // namespace lamina::platform
