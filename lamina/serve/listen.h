// A socket that listens.
#pragma once

#include <string>

namespace lamina::serve {

struct Listener {
  int descriptor = -1;  // does not block
  std::string address;  // "http://127.0.0.1:8080", "unix:/run/lamina.sock"
};

/// Throws Error(kIo | kInvalidArgument). A host name is looked up; of several addresses the first that can be had.
Listener ListenAt(const std::string& host, int port);
/// A socket file that nobody listens to is replaced; another file of that name is not.
Listener ListenAtPath(const std::string& path);

}  // namespace lamina::serve
