// A table of paths without locks.
#include "lamina/base/unfinished_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>

namespace lamina {
namespace {

struct UnfinishedSlot {
  std::atomic<bool> taken{false};
  std::atomic<bool> valid{false};
  std::array<char, PATH_MAX> path{};
};
std::array<UnfinishedSlot, 32> unfinished;

}  // namespace

void RememberUnfinished(const std::string& path) {
  for (UnfinishedSlot& slot : unfinished) {
    if (path.size() < slot.path.size() && !slot.taken.exchange(true)) {
      std::copy_n(path.c_str(), path.size() + 1, slot.path.data());
      slot.valid.store(true);
      return;
    }
  }
}

void ForgetUnfinished(const std::string& path) {
  for (UnfinishedSlot& slot : unfinished) {
    if (slot.valid.load() && path == slot.path.data()) {
      slot.valid.store(false);
      slot.taken.store(false);
      return;
    }
  }
}

void RemoveUnfinished() noexcept {
  for (const UnfinishedSlot& slot : unfinished) {
    if (slot.valid.load()) {
      unlink(slot.path.data());
    }
  }
}

}  // namespace lamina
