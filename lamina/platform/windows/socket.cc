// TCP by winsock. Sockets at paths are left out: the system has them since Windows 10, but few of its programs do.
#include "lamina/platform/socket.h"

#include <winsock2.h>
#include <ws2tcpip.h>

#include <memory>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

constexpr int kBacklog = SOMAXCONN;

// Numbers of sockets are those of handles, of which the system uses 32 bits.
SOCKET SocketOf(int descriptor) { return static_cast<SOCKET>(static_cast<uint32_t>(descriptor)); }
int DescriptorOf(SOCKET socket) { return static_cast<int>(socket); }

bool StartSockets() {
  static const int failed = [] {
    WSADATA about{};
    return WSAStartup(MAKEWORD(2, 2), &about);
  }();
  return failed == 0;
}

bool DoesNotBlock(SOCKET socket) {
  u_long yes = 1;
  return ioctlsocket(socket, FIONBIO, &yes) == 0;
}

// The port is this process's alone: by SO_REUSEADDR others could take it.
bool BindAndListen(SOCKET socket, const addrinfo& address) {
  const BOOL yes = TRUE;
  return setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes), sizeof yes) == 0 &&
         DoesNotBlock(socket) && bind(socket, address.ai_addr, static_cast<int>(address.ai_addrlen)) == 0 &&
         listen(socket, kBacklog) == 0;
}

std::string HostText(const sockaddr_storage& address, int size, std::string* port = nullptr) {
  char host[NI_MAXHOST] = "";
  char service[NI_MAXSERV] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, service, sizeof service,
              NI_NUMERICHOST | NI_NUMERICSERV);
  if (port != nullptr) {
    *port = service;
  }
  return host;
}

}  // namespace

ListeningSocket ListenAtHost(const char* host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (!StartSockets() || getaddrinfo(host, std::to_string(port).c_str(), &hints, &list) != 0) {
    return {.not_found = "the system finds no address of this name"};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, &freeaddrinfo);
  ListeningSocket made;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    const SOCKET socket =
        WSASocketW(each->ai_family, SOCK_STREAM, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (socket != INVALID_SOCKET && BindAndListen(socket, *each)) {
      made.descriptor = DescriptorOf(socket);
      return made;
    }
    made.reason = windows::ErrnoOf(static_cast<DWORD>(WSAGetLastError()));
    if (socket != INVALID_SOCKET) {
      closesocket(socket);
    }
  }
  return made;
}

HostAndPort AddressOf(int listening) {
  sockaddr_storage bound{};
  int size = sizeof bound;
  if (getsockname(SocketOf(listening), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return {};
  }
  HostAndPort at;
  at.host = HostText(bound, size, &at.port);
  at.is_ipv6 = bound.ss_family == AF_INET6;
  return at;
}

std::string WhyNoSocketAt(std::string_view) { return "the program for Windows listens at ports alone"; }
bool IsSocket(const char*) noexcept { return false; }
bool IsListenedTo(const char*) noexcept { return false; }
int ListenAtPath(const char*) noexcept { return -1; }

Accepted Accept(int listening) {
  sockaddr_storage address{};
  int size = sizeof address;
  const SOCKET socket = accept(SocketOf(listening), reinterpret_cast<sockaddr*>(&address), &size);
  if (socket == INVALID_SOCKET) {
    windows::Failed(static_cast<DWORD>(WSAGetLastError()));
    return {};
  }
  SetHandleInformation(reinterpret_cast<HANDLE>(socket), HANDLE_FLAG_INHERIT, 0);
  DoesNotBlock(socket);
  return {DescriptorOf(socket), address.ss_family, HostText(address, size)};
}

void SendLittleAtOnce(int descriptor) noexcept {
  const BOOL yes = TRUE;
  setsockopt(SocketOf(descriptor), IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes), sizeof yes);
}

void CloseConnection(int descriptor, std::string_view words) noexcept {
  if (send(SocketOf(descriptor), words.data(), static_cast<int>(words.size()), 0) > 0) {
    shutdown(SocketOf(descriptor), SD_SEND);
  }
  closesocket(SocketOf(descriptor));
}

void SendDatagram(std::string_view, std::string_view) noexcept {}  // no supervisor asks for it

}  // namespace lamina::platform
