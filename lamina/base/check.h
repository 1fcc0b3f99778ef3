// Checks for programmers' mistakes: they abort in debug and test builds and cost nothing in release builds.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace lamina {

#if !defined(NDEBUG) || defined(LAMINA_CHECKS)
inline constexpr bool kChecksEnabled = true;
#else
inline constexpr bool kChecksEnabled = false;
#endif

inline void Check(bool condition, const char* what,
                  std::source_location where = std::source_location::current()) noexcept {
  if constexpr (kChecksEnabled) {
    if (!condition) {
      std::fprintf(stderr, "%s:%u: check failed: %s\n", where.file_name(), where.line(), what);
      std::abort();
    }
  }
}

}  // namespace lamina
