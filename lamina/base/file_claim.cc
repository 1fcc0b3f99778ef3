// flock(2) on a file beside.
#include "lamina/base/file_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/base/unfinished_files.h"

namespace lamina {
namespace {

std::string ThisProcess() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", getpid(), host.data());
}

// What ThisProcess() wrote into the file, or less where that failed.
std::string HolderIn(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : "another process";
}

}  // namespace

std::unique_ptr<FileClaim> FileClaim::Take(const std::string& path) {
  if (IsSpecialFile(path)) {
    return nullptr;
  }
  const std::string lock_path = path + ".lamina-lock";
  while (true) {
    const int descriptor = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      ThrowFileError(path, "lock", errno);
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const std::string holder = HolderIn(descriptor);
      close(descriptor);
      throw Error(ErrorCode::kIo, "another run writes this file",
                  {.file = path, .value = holder, .remedy = "Wait until it has ended, or give another name."});
    }
    struct stat info {};
    if (fstat(descriptor, &info) == 0 && info.st_nlink == 0) {  // its holder ended just now
      close(descriptor);
      continue;
    }
    return std::unique_ptr<FileClaim>(new FileClaim(lock_path, descriptor));
  }
}

FileClaim::FileClaim(std::string lock_path, int descriptor)
    : lock_path_(std::move(lock_path)), descriptor_(descriptor) {
  RememberUnfinished(lock_path_);
  const std::string text = ThisProcess();
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, text.data(), text.size(), 0) < 0) {
    // who it is stays unsaid
  }
}

FileClaim::~FileClaim() {
  unlink(lock_path_.c_str());
  ForgetUnfinished(lock_path_);
  close(descriptor_);
}

}  // namespace lamina
