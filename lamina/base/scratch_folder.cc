// Temporary folders.
#include "lamina/base/scratch_folder.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/platform/file.h"

namespace lamina {

ScratchFolder::ScratchFolder(const std::string& purpose) {
  std::error_code failed;
  const std::filesystem::path above = std::filesystem::temp_directory_path(failed);
  if (failed) {
    throw Error(ErrorCode::kIo, "there is no folder for temporary files: " + failed.message(),
                {.remedy = "Set TMPDIR to a folder that can be written into."});
  }
  path_ = (above / ("lamina-" + purpose + "-XXXXXX")).string();
  if (!platform::MakeOwnFolder(path_)) {
    ThrowFileError(path_, "make the folder", errno);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lamina
