// TCP by Winsock. Sockets at paths are left out: Windows has them, but few programs there speak to them.
#include "lamina/platform/socket.h"

#include "lamina/platform/windows/system.h"
// after winsock2.h
#include <ws2tcpip.h>

#include <cerrno>
#include <memory>

namespace lamina::platform {
namespace {

constexpr int kBacklog = SOMAXCONN;

struct Started {
  Started() {
    WSADATA about{};
    WSAStartup(MAKEWORD(2, 2), &about);
  }
};

int ErrnoOfSocket(int error) {
  switch (error) {
    case WSAEADDRINUSE: return EADDRINUSE;
    case WSAEADDRNOTAVAIL: return EADDRNOTAVAIL;
    case WSAEACCES: return EACCES;
    case WSAEWOULDBLOCK: return EWOULDBLOCK;
    default: return EIO;
  }
}

std::string PeerText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text, sizeof text);
  }
  return text;
}

bool NeverWaits(SOCKET socket) {
  u_long yes = 1;
  return ioctlsocket(socket, FIONBIO, &yes) == 0;
}

}  // namespace

// Sockets are numbers below 2^32, which the system promises to programs of 32 bits.
ListeningSocket ListenAtHost(const char* host, int port) {
  static const Started started;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (getaddrinfo(host, std::to_string(port).c_str(), &hints, &list) != 0) {
    return {.not_found = "the name has no address"};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, &freeaddrinfo);
  ListeningSocket made;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    const SOCKET listening =
        WSASocketW(each->ai_family, SOCK_STREAM, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    const BOOL yes = 1;  // else another program may listen at the same port
    if (listening != INVALID_SOCKET &&
        setsockopt(listening, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes), sizeof yes) == 0 &&
        bind(listening, each->ai_addr, static_cast<int>(each->ai_addrlen)) == 0 && listen(listening, kBacklog) == 0 &&
        NeverWaits(listening)) {
      made.descriptor = static_cast<int>(listening);
      return made;
    }
    made.reason = ErrnoOfSocket(WSAGetLastError());
    if (listening != INVALID_SOCKET) {
      closesocket(listening);
    }
  }
  return made;
}

HostAndPort AddressOf(int listening) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  if (getsockname(static_cast<SOCKET>(listening), reinterpret_cast<sockaddr*>(&bound), &size) == 0) {
    getnameinfo(reinterpret_cast<const sockaddr*>(&bound), size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  }
  return {host, port, bound.ss_family == AF_INET6};
}

bool CanNameSocket(std::string_view) noexcept { return false; }
bool IsSocket(const char*) noexcept { return false; }
bool IsListenedTo(const char*) noexcept { return false; }
int ListenAtPath(const char*) noexcept {
  errno = ENOSYS;
  return -1;
}

Accepted Accept(int listening) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const SOCKET taken = accept(static_cast<SOCKET>(listening), reinterpret_cast<sockaddr*>(&address), &size);
  if (taken == INVALID_SOCKET || !NeverWaits(taken)) {
    errno = ErrnoOfSocket(WSAGetLastError());
    return {};
  }
  return {static_cast<int>(taken), address.ss_family, PeerText(address)};
}

void SendLittleAtOnce(int descriptor) noexcept {
  const BOOL yes = 1;
  setsockopt(static_cast<SOCKET>(descriptor), IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes),
             sizeof yes);
}

void EndSending(int descriptor) noexcept { shutdown(static_cast<SOCKET>(descriptor), SD_SEND); }
void SendDatagram(std::string_view, std::string_view) noexcept {}  // no supervisor asks for it

}  // namespace lamina::platform
