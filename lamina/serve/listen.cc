// TCP and unix sockets by the system's calls.
#include "lamina/serve/listen.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "lamina/base/error.h"

namespace lamina::serve {
namespace {

constexpr int kBacklog = 4096;

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) {
      close(value_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int Release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

[[noreturn]] void ThrowListen(const std::string& where, const char* reason, const std::string& remedy = "") {
  throw Error(ErrorCode::kIo, fmt::format("cannot listen at {}: {}", where, reason), {.remedy = remedy});
}

bool BindAndListen(int descriptor, const sockaddr* address, socklen_t size) {
  return bind(descriptor, address, size) == 0 && listen(descriptor, kBacklog) == 0;
}

std::string AddressOf(int descriptor) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) == 0) {
    getnameinfo(reinterpret_cast<const sockaddr*>(&bound), size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  }
  return bound.ss_family == AF_INET6 ? fmt::format("http://[{}]:{}", host, port)
                                     : fmt::format("http://{}:{}", host, port);
}

}  // namespace

Listener ListenAt(const std::string& host, int port) {
  const std::string where = fmt::format("{}:{}", host, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list); failed != 0) {
    ThrowListen(where, gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, &freeaddrinfo);
  int reason = 0;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    Descriptor descriptor(socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int yes = 1;
    if (descriptor.get() >= 0 && setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        BindAndListen(descriptor.get(), each->ai_addr, each->ai_addrlen)) {
      std::string address = AddressOf(descriptor.get());
      return {descriptor.Release(), std::move(address)};
    }
    reason = errno;
  }
  ThrowListen(where, std::strerror(reason),
              reason == EADDRINUSE ? "Stop what listens there, or choose another --port (0: any that is free)." : "");
}

Listener ListenAtPath(const std::string& path) {
  const std::string where = "unix:" + path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    ThrowListen(where, "the path is too long for a socket");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      ThrowListen(where, "a file of that name is no socket", "Remove it, or choose another name.");
    }
    const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(probe.get(), generic, sizeof address) == 0) {
      ThrowListen(where, "another process listens there");
    }
    unlink(path.c_str());
  }
  Descriptor descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (descriptor.get() < 0 || !BindAndListen(descriptor.get(), generic, sizeof address)) {
    ThrowListen(where, std::strerror(errno));
  }
  return {descriptor.Release(), where};
}

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace lamina::serve
