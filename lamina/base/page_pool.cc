// Regions of address space in which pieces are placed first fit; what is larger has a mapping of its own.
#include "lamina/base/page_pool.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <new>

#include "lamina/platform/memory.h"

namespace lamina {
namespace {

constexpr int64_t kPage_bytes = 2 << 20;
constexpr int64_t kUnit_bytes = 4096;
constexpr int64_t kRegion_bytes = 64 << 20;  // of addresses: what nobody touches takes no memory
constexpr int64_t kUnits = kRegion_bytes / kUnit_bytes;
constexpr int64_t kLargestPiece_bytes = 16 << 20;
constexpr int64_t kMostKept_bytes = 4 << 20;  // touched memory of an empty region that stays for the next piece

constexpr int64_t RoundedUp(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

// A mapping of whole large pages, zero where they are first touched; null where there is none. Clearing a data set of
// 188 MB took 0.1 s on one thread.
char* Map(int64_t size_bytes) {
  void* const mapped = platform::MapZeros(size_bytes, kPage_bytes, /*overcommit=*/false);
  if (mapped != nullptr) {
    platform::PreferLargePages(mapped, size_bytes);
  }
  return static_cast<char*>(mapped);
}

class Region {
 public:
  explicit Region(char* memory) : memory_(memory) {}

  // Null where no gap is large enough.
  char* Take(int64_t units) {
    char* const end = taken_.data() + kUnits;
    for (char* at = taken_.data();;) {
      at = std::find(at, end, kFree);
      if (end - at < units) {
        return nullptr;
      }
      char* const next = std::find(at, at + units, kTaken);
      if (next == at + units) {
        std::fill_n(at, units, kTaken);
        return Cleared(at - taken_.data(), units);
      }
      at = next;
    }
  }

  bool Holds(const char* piece) const { return piece >= memory_ && piece < memory_ + kRegion_bytes; }
  void Give(const char* piece, int64_t units) {
    std::fill_n(taken_.data() + (piece - memory_) / kUnit_bytes, units, kFree);
    units_ -= units;
  }
  bool IsIdle() const { return units_ == 0 && used_ * kUnit_bytes > kMostKept_bytes; }
  char* memory() const { return memory_; }

 private:
  static constexpr char kFree = 0, kTaken = 1;

  char* Cleared(int64_t first, int64_t units) {
    units_ += units;
    char* const piece = memory_ + first * kUnit_bytes;
    if (first < used_) {
      std::memset(piece, 0, static_cast<size_t>((std::min(first + units, used_) - first) * kUnit_bytes));
    }
    used_ = std::max(used_, first + units);
    return piece;
  }

  char* memory_;
  std::array<char, kUnits> taken_{};
  int64_t units_ = 0;  // that are taken
  int64_t used_ = 0;   // behind it nothing was ever taken: zero
};

class PagePool {
 public:
  void* Take(int64_t size_bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    const int64_t units = UnitsOf(size_bytes);
    for (Region& region : regions_) {
      if (char* const piece = region.Take(units)) {
        return piece;
      }
    }
    char* const memory = Map(kRegion_bytes);
    if (memory == nullptr) {
      return nullptr;
    }
    try {
      regions_.emplace_back(memory);
    } catch (const std::bad_alloc&) {
      platform::Unmap(memory, kRegion_bytes);
      return nullptr;
    }
    return regions_.back().Take(units);
  }

  void Give(void* memory, int64_t size_bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto* const piece = static_cast<const char*>(memory);
    const auto region =
        std::find_if(regions_.begin(), regions_.end(), [&](const Region& each) { return each.Holds(piece); });
    region->Give(piece, UnitsOf(size_bytes));
    if (region->IsIdle()) {
      platform::Unmap(region->memory(), kRegion_bytes);
      regions_.erase(region);
    }
  }

 private:
  static int64_t UnitsOf(int64_t size_bytes) { return RoundedUp(size_bytes, kUnit_bytes) / kUnit_bytes; }

  std::mutex mutex_;
  std::list<Region> regions_;
};

PagePool& Pool() {
  static PagePool& pool = *new PagePool;  // for objects that outlive this file's
  return pool;
}

}  // namespace

void* AllocatePages(int64_t size_bytes) noexcept {
  return size_bytes > kLargestPiece_bytes ? Map(RoundedUp(size_bytes, kPage_bytes)) : Pool().Take(size_bytes);
}

void FreePages(void* memory, int64_t size_bytes) noexcept {
  if (size_bytes > kLargestPiece_bytes) {
    platform::Unmap(memory, RoundedUp(size_bytes, kPage_bytes));
  } else {
    Pool().Give(memory, size_bytes);
  }
}

}  // namespace lamina
