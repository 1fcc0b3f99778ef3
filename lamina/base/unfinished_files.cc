// A table of paths that signal handlers read without locks.
#include "lamina/base/unfinished_files.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "lamina/platform/file.h"

namespace lamina {
namespace {

struct UnfinishedSlot {
  std::atomic<bool> valid{false};
  std::array<char, platform::kLongestPath_bytes> path{};
};
std::array<UnfinishedSlot, 32> unfinished;
std::mutex changes;  // of threads: one looks through the paths while another's is written

}  // namespace

void RememberUnfinished(const std::string& path) {
  const std::lock_guard lock(changes);
  for (UnfinishedSlot& slot : unfinished) {
    if (path.size() < slot.path.size() && !slot.valid.load()) {
      std::copy_n(path.c_str(), path.size() + 1, slot.path.data());
      slot.valid.store(true);
      return;
    }
  }
}

void ForgetUnfinished(const std::string& path) {
  const std::lock_guard lock(changes);
  for (UnfinishedSlot& slot : unfinished) {
    if (slot.valid.load() && path == slot.path.data()) {
      slot.valid.store(false);
      return;
    }
  }
}

void RemoveUnfinished() noexcept {
  for (const UnfinishedSlot& slot : unfinished) {
    if (slot.valid.load()) {
      platform::Remove(slot.path.data());
    }
  }
}

}  // namespace lamina
