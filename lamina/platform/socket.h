// Sockets that listen, and the connections that come to them. What fails leaves its reason in errno; messages are for
// those who call.
#pragma once

#include <string>
#include <string_view>

namespace lamina::platform {

struct ListeningSocket {
  int descriptor = -1;              // does not block; -1: none
  int reason = 0;                   // the error's number, of the last address that was tried
  const char* not_found = nullptr;  // why the host's name has no address
};
/// At the first of the host's addresses that can be had. Port 0: any that is free.
ListeningSocket ListenAtHost(const char* host, int port);

/// Where a socket listens, as numbers; "" where it cannot be told.
struct HostAndPort {
  std::string host;
  std::string port;
  bool is_ipv6 = false;
};
HostAndPort AddressOf(int listening);

/// Why a path cannot be that of a socket, as it is too long; "" where it can.
std::string WhyNoSocketAt(std::string_view path);
/// Whether the name itself is that of a socket, not of a link to one.
bool IsSocket(const char* path) noexcept;
/// Whether a process listens at this path.
bool IsListenedTo(const char* path) noexcept;
/// A socket that does not block, at a path that can name one and is free; -1 where it cannot be.
int ListenAtPath(const char* path) noexcept;

struct Accepted {
  int descriptor = -1;  // does not block; -1: none
  int family = 0;       // of addresses
  std::string peer;     // its address as numbers; "": at a path
};
/// One of the connections that wait.
Accepted Accept(int listening);
/// What is written goes at once, also where it is little; no matter for a socket at a path.
void SendLittleAtOnce(int descriptor) noexcept;
/// Ends a connection, with these last words as far as they go at once.
void CloseConnection(int descriptor, std::string_view words = {}) noexcept;

/// One message to the socket of datagrams at `path`, without waiting for an answer; '@': of the abstract names.
void SendDatagram(std::string_view path, std::string_view message) noexcept;

}  // namespace lamina::platform
