// Sockets, or the reason why there is none.
#include "lamina/serve/listen.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "lamina/base/error.h"
#include "lamina/platform/file.h"
#include "lamina/platform/socket.h"

namespace lamina::serve {
namespace {

[[noreturn]] void ThrowListen(const std::string& where, const std::string& reason, const std::string& remedy = "") {
  throw Error(ErrorCode::kIo, fmt::format("cannot listen at {}: {}", where, reason), {.remedy = remedy});
}

}  // namespace

Listener ListenAt(const std::string& host, int port) {
  const std::string where = fmt::format("{}:{}", host, port);
  const platform::ListeningSocket made = platform::ListenAtHost(host.c_str(), port);
  if (made.not_found != nullptr) {
    ThrowListen(where, made.not_found);
  }
  if (made.descriptor < 0) {
    ThrowListen(
        where, platform::ReasonOf(made.reason),
        made.reason == EADDRINUSE ? "Stop what listens there, or choose another --port (0: any that is free)." : "");
  }
  const platform::HostAndPort at = platform::AddressOf(made.descriptor);
  return {made.descriptor,
          at.is_ipv6 ? fmt::format("http://[{}]:{}", at.host, at.port) : fmt::format("http://{}:{}", at.host, at.port)};
}

Listener ListenAtPath(const std::string& path) {
  const std::string where = "unix:" + path;
  if (const std::string reason = platform::WhyNoSocketAt(path); !reason.empty()) {
    ThrowListen(where, reason);
  }
  if (platform::FactsOf(path.c_str())) {
    if (!platform::IsSocket(path.c_str())) {
      ThrowListen(where, "a file of that name is no socket", "Remove it, or choose another name.");
    }
    if (platform::IsListenedTo(path.c_str())) {
      ThrowListen(where, "another process listens there");
    }
    platform::Remove(path.c_str());
  }
  const int descriptor = platform::ListenAtPath(path.c_str());
  if (descriptor < 0) {
    ThrowListen(where, platform::ReasonOf(errno));
  }
  return {descriptor, where};
}

}  // namespace lamina::serve
