// Ctrl-C and exceptions of callbacks while the library computes without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>

namespace lamina::python {

namespace nb = nanobind;

/// One run. Its Stop() is what the library asks after every step; it looks for signals some times a second.
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

  /// After the run, with the lock: throws what a callback threw. True after Ctrl-C.
  bool Finish() {
    if (!failed_) {
      return false;
    }
    try {
      std::rethrow_exception(std::exchange(failed_, nullptr));
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

}  // namespace lamina::python
