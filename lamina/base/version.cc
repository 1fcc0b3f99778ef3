// Version and build options, from the build system's definitions.
#include "lamina/base/version.h"

#include <fmt/format.h>

namespace lamina {

std::string Version() { return LAMINA_VERSION; }

std::vector<std::string> BuildOptions() {
  const auto line = [](const char* part, bool on) { return fmt::format("{:<9}{}", part, on ? "on" : "off"); };
#ifdef LAMINA_HAVE_BLAS
  constexpr bool kBlas = true;
#else
  constexpr bool kBlas = false;
#endif
#ifdef NDEBUG
  const char* const kind = "optimized";
#else
  const char* const kind = "debug";
#endif
  return {fmt::format("{:<9}{} {}", "compiler", __VERSION__, kind), line("BLAS", kBlas)};
}

}  // namespace lamina
