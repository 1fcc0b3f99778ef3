// Ctrl-C and exceptions of callbacks while the library computes without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "lamina/base/stop.h"

namespace lamina::python {

namespace nb = nanobind;

/// One run. Its Stop() is what the library asks at its stop points, and training after every step; it looks for signals
/// some times a second.
class Interrupts {
 public:
  /// Whether to stop: Ctrl-C, a callback that said so, or one that failed.
  bool Stop() {
    const auto now = std::chrono::steady_clock::now();
    if (!stop_ && now - looked_ > std::chrono::milliseconds(50)) {
      looked_ = now;
      Guarded([] {
        if (PyErr_CheckSignals() != 0) {
          throw nb::python_error();
        }
        return false;
      });
    }
    return stop_;
  }

  /// fn() with the interpreter's lock; true or an exception of it stops the run.
  template <class Fn>
  void Guarded(const Fn& fn) {
    const nb::gil_scoped_acquire lock;
    try {
      stop_ = fn() || stop_;
    } catch (...) {
      stop_ = true;
      failed_ = std::current_exception();
    }
  }

  /// After the run, with the lock: throws what a callback or a signal's handler threw.
  void Rethrow() {
    if (failed_) {
      std::rethrow_exception(std::exchange(failed_, nullptr));
    }
  }

  /// The same for a run that keeps what it has: true after Ctrl-C, which is not thrown.
  bool Finish() {
    try {
      Rethrow();
      return false;
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) {
        return true;
      }
      throw;
    }
  }

 private:
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  bool stop_ = false;
  std::exception_ptr failed_;
};

/// fn() without the interpreter's lock. Ctrl-C (whatever a signal's handler raises) ends it at the library's next stop
/// point (base/stop.h) and is thrown as the Python exception that it is. What fn() had done is then of no use. Every
/// function here that may take a second and keeps no part of its work goes this way.
template <class Fn>
auto Interruptibly(const Fn& fn) {
  Interrupts interrupts;
  using Result = std::invoke_result_t<Fn>;
  std::conditional_t<std::is_void_v<Result>, std::monostate, std::optional<Result>> result;
  {
    const nb::gil_scoped_release unlocked;
    StopsAt([&] { return interrupts.Stop(); },
            [&] {
              if constexpr (std::is_void_v<Result>) {
                fn();
              } else {
                result.emplace(fn());
              }
            });
  }
  interrupts.Rethrow();
  if constexpr (!std::is_void_v<Result>) {
    return std::move(*result);
  }
}

}  // namespace lamina::python
