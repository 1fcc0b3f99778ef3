// Running gnuplot.
#pragma once

#include <string>

#include "lamina/base/error.h"

namespace lamina {

/// Runs gnuplot on the file `script` within `folder`, silently. No: why there are no pictures, with what to do.
Verdict RunGnuplot(const std::string& folder, const std::string& script);

}  // namespace lamina
