// TCP and unix sockets by the system's calls.
#include "lamina/platform/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "lamina/platform/posix.h"

namespace lamina::platform {
namespace {

constexpr int kBacklog = 4096;

// Closes without a change of errno.
void CloseSocket(int descriptor) {
  const int before = errno;
  close(descriptor);
  errno = before;
}

bool BindAndListen(int descriptor, const sockaddr* address, socklen_t size) {
  return bind(descriptor, address, size) == 0 && listen(descriptor, kBacklog) == 0;
}

sockaddr_un AddressAt(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
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

}  // namespace

ListeningSocket ListenAtHost(const char* host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (const int failed = getaddrinfo(host, std::to_string(port).c_str(), &hints, &list); failed != 0) {
    return {.not_found = gai_strerror(failed)};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, &freeaddrinfo);
  ListeningSocket made;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    const int descriptor = OpenSocket(each->ai_family, SOCK_STREAM, false);
    const int yes = 1;
    if (descriptor >= 0 && setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        BindAndListen(descriptor, each->ai_addr, each->ai_addrlen)) {
      made.descriptor = descriptor;
      return made;
    }
    made.reason = errno;
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
  return made;
}

HostAndPort AddressOf(int listening) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  if (getsockname(listening, reinterpret_cast<sockaddr*>(&bound), &size) == 0) {
    getnameinfo(reinterpret_cast<const sockaddr*>(&bound), size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  }
  return {host, port, bound.ss_family == AF_INET6};
}

std::string WhyNoSocketAt(std::string_view path) {
  return path.size() < sizeof sockaddr_un{}.sun_path ? "" : "the path is too long for a socket";
}

bool IsSocket(const char* path) noexcept {
  struct stat status {};
  return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

bool IsListenedTo(const char* path) noexcept {
  const sockaddr_un address = AddressAt(path);
  const int probe = OpenSocket(AF_UNIX, SOCK_STREAM, true);
  if (probe < 0) {
    return false;
  }
  const bool answers = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  CloseSocket(probe);
  return answers;
}

int ListenAtPath(const char* path) noexcept {
  const sockaddr_un address = AddressAt(path);
  const int descriptor = OpenSocket(AF_UNIX, SOCK_STREAM, false);
  if (descriptor >= 0 && !BindAndListen(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address)) {
    CloseSocket(descriptor);
    return -1;
  }
  return descriptor;
}

Accepted Accept(int listening) {
  sockaddr_storage address{};
  const int descriptor = AcceptSocket(listening, address);
  if (descriptor < 0) {
    return {};
  }
  return {descriptor, address.ss_family, PeerText(address)};
}

void SendLittleAtOnce(int descriptor) noexcept {
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void CloseConnection(int descriptor, std::string_view words) noexcept {
  if (send(descriptor, words.data(), words.size(), MSG_NOSIGNAL) > 0) {
    shutdown(descriptor, SHUT_WR);
  }
  close(descriptor);
}

void SendDatagram(std::string_view path, std::string_view message) noexcept {
  if (path.empty() || !WhyNoSocketAt(path).empty()) {
    return;
  }
  sockaddr_un address = AddressAt(path);
  if (path.front() == '@') {
    address.sun_path[0] = '\0';
  }
  const int descriptor = OpenSocket(AF_UNIX, SOCK_DGRAM, true);
  if (descriptor < 0) {
    return;
  }
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  close(descriptor);
}

}  // namespace lamina::platform
