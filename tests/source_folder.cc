// The folder as CMake knows it.
#include "tests/source_folder.h"

namespace lamina {

const std::string& SourceFolder() {
  static const std::string folder = LAMINA_SOURCE_DIR;
  return folder;
}

}  // namespace lamina
