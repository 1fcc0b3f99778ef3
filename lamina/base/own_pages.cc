// Memory in pages without the pool, for the predict library: a mapping for each of its few arrays. The pool's first
// piece would clear a page of 2 MiB, which takes longer than reading a small model.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "lamina/base/page_pool.h"

namespace lamina {

void* AllocatePages(int64_t size_bytes) noexcept {
  constexpr int64_t kLeastLarge_bytes = 4 << 20;
  void* const mapped =
      mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  if (size_bytes >= kLeastLarge_bytes) {
    madvise(mapped, static_cast<size_t>(size_bytes), MADV_HUGEPAGE);  // without large pages small ones have to do
  }
  return mapped;
}

void FreePages(void* memory, int64_t size_bytes) noexcept { munmap(memory, static_cast<size_t>(size_bytes)); }

}  // namespace lamina
