// The lock of an open file.
#include "lamina/base/file_lock.h"

#include <cerrno>

#include "lamina/base/part_file.h"
#include "lamina/platform/file.h"

namespace lamina {

std::unique_ptr<FileLock> FileLock::Take(const std::string& path) {
  const int descriptor = platform::Open(path.c_str(), platform::OpenFor::kReading);
  if (descriptor < 0) {
    ThrowFileError(path, "open", errno);
  }
  if (platform::TryLock(descriptor) == platform::Lock::kHeld) {
    platform::Close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<FileLock>(new FileLock(descriptor));
}

FileLock::~FileLock() { platform::Close(descriptor_); }

}  // namespace lamina
