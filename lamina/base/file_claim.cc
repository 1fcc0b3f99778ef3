// The lock of a file beside.
#include "lamina/base/file_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/part_file.h"
#include "lamina/base/unfinished_files.h"
#include "lamina/platform/file.h"
#include "lamina/platform/process.h"

namespace lamina {
namespace {

std::string ThisProcess() { return fmt::format("process {} on {}", platform::ProcessNumber(), platform::HostName()); }

// What a lock says. Without memory of the heap: where there is none, a lock that was just made must not stay.
struct LockText {
  explicit LockText(int descriptor)
      : size(std::max<ptrdiff_t>(0, platform::ReadAt(descriptor, bytes.data(), bytes.size(), 0))) {}
  std::string_view view() const { return {bytes.data(), static_cast<size_t>(size)}; }

  std::array<char, 512> bytes{};
  ptrdiff_t size;
};

// Whether it is a file of ThisProcess()'s text, or of less where that could not be written.
bool IsLock(int descriptor) {
  const auto facts = platform::FactsOf(descriptor);
  if (!facts || !facts->is_file() || facts->links > 1) {
    return false;
  }
  const LockText lock(descriptor);
  const std::string_view text = lock.view();
  constexpr std::string_view kWord = "process ";
  constexpr std::string_view kOn = " on ";
  const size_t end = text.find_first_not_of("0123456789", std::min(kWord.size(), text.size()));
  return facts->size_bytes == 0 ||
         (facts->size_bytes == std::ssize(text) && text.starts_with(kWord) && end != std::string_view::npos &&
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
    const int descriptor = platform::Open(lock_path.c_str(), platform::OpenFor::kLocking);
    if (descriptor < 0 && (errno == ELOOP || errno == EISDIR)) {
      RefuseLock(path, lock_path);
    }
    if (descriptor < 0) {
      ThrowFileError(path, "lock", errno);
    }
    if (!IsLock(descriptor)) {
      platform::Close(descriptor);
      RefuseLock(path, lock_path);
    }
    if (platform::TryLock(descriptor) == platform::Lock::kHeld) {
      const LockText lock(descriptor);
      platform::Close(descriptor);
      const std::string holder(lock.view());
      throw Error(ErrorCode::kIo, "another run writes this file",
                  {.file = path,
                   .value = holder.empty() ? "another process" : holder,
                   .remedy = "Wait until it has ended, or give another name."});
    }
    if (!IsNameOf(lock_path, descriptor)) {  // its holder ended just now
      platform::Close(descriptor);
      continue;
    }
    claim->descriptor_ = descriptor;
    RememberUnfinished(lock_path);
    if (!platform::Resize(descriptor, 0) || platform::WriteAt(descriptor, text.data(), text.size(), 0) < 0) {
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
    platform::Remove(lock_path_.c_str());
  }
  ForgetUnfinished(lock_path_);
  platform::Close(descriptor_);
}

}  // namespace lamina
