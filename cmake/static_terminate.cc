// Replaces the runtime's handler of exceptions that nobody catches, for the static file: it says what they say. The
// runtime's own says of which type they are, too, and has 48 kB of readers of names for it.
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace __gnu_cxx {  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the runtime's own name

void __verbose_terminate_handler() {  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
  static bool again = false;
  if (const std::exception_ptr thrown = std::current_exception(); thrown && !again) {
    again = true;
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "terminated by an exception: %s\n", error.what());
    } catch (...) {
      std::fputs("terminated by an exception\n", stderr);
    }
  }
  std::abort();
}

}  // namespace __gnu_cxx
