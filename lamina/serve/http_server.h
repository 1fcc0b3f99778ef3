// The service on sockets: HTTP/1.1, an event loop a thread (docs/decisions/0070-serve.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lamina/base/error.h"
#include "lamina/serve/server_options.h"
#include "lamina/serve/service.h"

namespace lamina::serve {

/// No: this build is without the service, and why.
Verdict HasHttpServer();

class HttpServer {
 public:
  /// Listens: from now on connections wait. Throws Error(kIo) for an address that cannot be had, and
  /// Error(kUnsupported) unless HasHttpServer().
  HttpServer(Service& service, const ServerOptions& options);
  ~HttpServer();

  /// Begins to answer, on threads of its own.
  void Start();
  /// Where it listens: "http://127.0.0.1:8080", "unix:/run/lamina.sock".
  std::string address() const;
  /// New connections are refused; what was asked is answered, then connections end. Returns whether all did within
  /// `seconds`; the others are cut. `hurry`: asked again and again whether to cut them at once.
  bool Stop(double seconds, const std::function<bool()>& hurry);

 private:
  class Loops;
  std::unique_ptr<Loops> loops_;
};

}  // namespace lamina::serve
