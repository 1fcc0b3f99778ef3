// Memory in pages without the pool, for the predict library: a mapping for each of its few arrays. The pool's first
// piece would clear a page of 2 MiB, which takes longer than reading a small model.
#include <cstdint>

#include "lamina/base/page_pool.h"
#include "lamina/platform/memory.h"

namespace lamina {

void* AllocatePages(int64_t size_bytes) noexcept {
  constexpr int64_t kLeastLarge_bytes = 4 << 20;
  void* const mapped = platform::MapZeros(size_bytes, /*alignment=*/1, /*overcommit=*/false);
  if (mapped != nullptr && size_bytes >= kLeastLarge_bytes) {
    platform::PreferLargePages(mapped, size_bytes);  // without large pages small ones have to do
  }
  return mapped;
}

void FreePages(void* memory, int64_t size_bytes) noexcept { platform::Unmap(memory, size_bytes); }

}  // namespace lamina
