// Running gnuplot.
#pragma once

#include <string>

#include "lamina/base/error.h"

namespace lamina {

/// The command that installs gnuplot here.
std::string InstallGnuplot();

/// Runs gnuplot on the file `script`, an absolute path or one within `folder`, where it writes; silently. No: why there
/// are no pictures, with what to do.
Verdict RunGnuplot(const std::string& folder, const std::string& script);

}  // namespace lamina
