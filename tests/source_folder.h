// Where the sources are, as tests find their data.
#pragma once

#include <string>

namespace lamina {

/// Told by source_folder.cc alone: every other object is the same wherever the sources are, so that a compiler's cache
/// knows it.
const std::string& SourceFolder();

}  // namespace lamina
