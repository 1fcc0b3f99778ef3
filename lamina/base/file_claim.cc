// flock(2) on a file beside.
#include "lamina/base/file_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
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

// What a lock says. Without memory of the heap: where there is none, a lock that was just made must not stay.
struct LockText {
  explicit LockText(int descriptor) : size(std::max<ssize_t>(0, pread(descriptor, bytes.data(), bytes.size(), 0))) {}
  std::string_view view() const { return {bytes.data(), static_cast<size_t>(size)}; }

  std::array<char, 512> bytes{};
  ssize_t size;
};

// Whether it is a file of ThisProcess()'s text, or of less where that could not be written.
bool IsLock(int descriptor) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink > 1) {
    return false;
  }
  const LockText lock(descriptor);
  const std::string_view text = lock.view();
  constexpr std::string_view kWord = "process ";
  constexpr std::string_view kOn = " on ";
  const size_t end = text.find_first_not_of("0123456789", std::min(kWord.size(), text.size()));
  return info.st_size == 0 ||
         (info.st_size == std::ssize(text) && text.starts_with(kWord) && end != std::string_view::npos &&
          end > kWord.size() && text.compare(end, kOn.size(), kOn) == 0 && text.find('\n') == std::string_view::npos);
}

[[noreturn]] void RefuseLock(const std::string& path, const std::string& lock_path) {
  throw Error(ErrorCode::kIo, "is there and is no lock of lamina's, which would stand under this name while it writes",
              {.file = lock_path, .value = path, .remedy = "Move it, or give another name."});
}

}  // namespace

std::unique_ptr<FileClaim> FileClaim::Take(const std::string& path) {
  if (IsSpecialFile(path)) {
    return nullptr;
  }
  const std::string lock_path = path + ".lamina-lock";
  const std::string text = ThisProcess();
  std::unique_ptr<FileClaim> claim(
      new FileClaim(lock_path));  // from here on nothing allocates until the lock is its own
  while (true) {
    const int descriptor = open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor < 0 && (errno == ELOOP || errno == EISDIR)) {
      RefuseLock(path, lock_path);
    }
    if (descriptor < 0) {
      ThrowFileError(path, "lock", errno);
    }
    if (!IsLock(descriptor)) {
      close(descriptor);
      RefuseLock(path, lock_path);
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const LockText lock(descriptor);
      close(descriptor);
      const std::string holder(lock.view());
      throw Error(ErrorCode::kIo, "another run writes this file",
                  {.file = path,
                   .value = holder.empty() ? "another process" : holder,
                   .remedy = "Wait until it has ended, or give another name."});
    }
    if (!IsNameOf(lock_path, descriptor)) {  // its holder ended just now
      close(descriptor);
      continue;
    }
    claim->descriptor_ = descriptor;
    RememberUnfinished(lock_path);
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text.data(), text.size(), 0) < 0) {
      // who it is stays unsaid
    }
    return claim;
  }
}

FileClaim::~FileClaim() {
  if (descriptor_ < 0) {
    return;
  }
  if (IsNameOf(lock_path_, descriptor_)) {
    unlink(lock_path_.c_str());
  }
  ForgetUnfinished(lock_path_);
  close(descriptor_);
}

}  // namespace lamina
