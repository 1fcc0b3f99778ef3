// A stopwatch on the monotonic clock.
#pragma once

#include <chrono>

namespace lamina {

class Stopwatch {
 public:
  double Elapsed_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void Restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lamina
