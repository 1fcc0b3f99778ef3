// Running gnuplot, and the folders that reports and pictures go to.
#pragma once

#include <string>

#include "lamina/base/error.h"

namespace lamina {

/// Runs gnuplot on the file `script`, an absolute path or one within `folder`, where it writes; silently. No: why there
/// are no pictures, with what to do.
Verdict RunGnuplot(const std::string& folder, const std::string& script);

/// Throws Error(kIo) unless files can be created in `folder`, or it does not exist and can be made: called before long
/// work. Leaves nothing behind.
void RequireOutputFolder(const std::string& folder);

/// Makes `folder` and those above it. Throws Error(kIo).
void MakeFolder(const std::string& folder);

}  // namespace lamina
