// mmap(2).
#include "lamina/platform/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace lamina::platform {
namespace {

void* OrNull(void* mapped) { return mapped == MAP_FAILED ? nullptr : mapped; }

}  // namespace

int64_t PageSize_bytes() noexcept { return sysconf(_SC_PAGESIZE); }

void* MapFile(int descriptor, int64_t size_bytes, bool writable, int64_t offset) noexcept {
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  return OrNull(mmap(nullptr, static_cast<size_t>(size_bytes), access, MAP_SHARED, descriptor, offset));
}

void* MapFileForOwn(int descriptor, int64_t size_bytes) noexcept {
  return OrNull(mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                     descriptor, 0));
}

void* MapZeros(int64_t size_bytes, int64_t alignment, bool overcommit) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (overcommit ? MAP_NORESERVE : 0);
  const int64_t more = alignment > PageSize_bytes() ? alignment : 0;  // somewhere in it the right address is
  void* const mapped =
      OrNull(mmap(nullptr, static_cast<size_t>(size_bytes + more), PROT_READ | PROT_WRITE, flags, -1, 0));
  if (mapped == nullptr || more == 0) {
    return mapped;
  }
  char* const from = static_cast<char*>(mapped);
  const auto before = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(from) & static_cast<uintptr_t>(alignment - 1));
  if (before > 0) {
    Unmap(from, before);
  }
  if (more > before) {
    Unmap(from + before + size_bytes, more - before);
  }
  return from + before;
}

void Unmap(void* memory, int64_t size_bytes) noexcept { munmap(memory, static_cast<size_t>(size_bytes)); }

void ReleasePages(void* memory, int64_t size_bytes) noexcept {
  madvise(memory, static_cast<size_t>(size_bytes), MADV_DONTNEED);
}

void PrefetchPages(void* memory, int64_t size_bytes) noexcept {
  madvise(memory, static_cast<size_t>(size_bytes), MADV_WILLNEED);
}

void PreferLargePages(void* memory, int64_t size_bytes) noexcept {
#ifdef MADV_HUGEPAGE
  madvise(memory, static_cast<size_t>(size_bytes), MADV_HUGEPAGE);
#else
  static_cast<void>(memory), static_cast<void>(size_bytes);
#endif
}

}  // namespace lamina::platform
