// What a backend is, too, if it opens libraries of others while it runs.
#pragma once

#include <string>

namespace lamina {

class UsesLibraries {
 public:
  virtual ~UsesLibraries() = default;
  /// Opens them, which takes time and memory, and says which: "cuBLASLt 13.0.2, no cuSOLVER: ...". Backend::Describe()
  /// opens none.
  virtual std::string DescribeLibraries() const = 0;
};

}  // namespace lamina
