// How the service listens, what it lets pass, and what it says of a request.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lamina::serve {

struct ServerLimits {
  int64_t body_bytes = 16 << 20;
  int64_t connections = 1000;
  int64_t waiting_bytes = 256 << 20;  // of requests that are not read whole, all together
  int64_t waiting_rows = 100000;      // of requests that wait for answers, in a thread
  double request_seconds = 30;        // until a request is read whole, and until its response is taken
  double idle_seconds = 75;           // between two requests
};

/// A request as the access log tells it.
struct LogEntry {
  std::string peer;
  std::string method;
  std::string target;
  int status = 0;
  int64_t bytes_in = 0;   // of the body
  int64_t bytes_out = 0;  // of the body
  int64_t rows = 0;
  double seconds = 0;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;          // 0: any that is free
  std::string unix_socket;  // a path; where set, host and port are not used
  int threads = 1;
  bool batches = true;  // requests that wait together are answered together
  ServerLimits limits;
  /// Called by the loops; null: no log.
  std::function<void(const LogEntry&)> log;
};

}  // namespace lamina::serve
