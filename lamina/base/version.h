// Version and build options of the library.
#pragma once

#include <string>
#include <vector>

namespace lamina {

/// "0.1.0".
std::string Version();
/// What was compiled in, one line each: compiler, BLAS.
std::vector<std::string> BuildOptions();

}  // namespace lamina
