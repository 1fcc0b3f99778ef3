// Cache sizes of this machine turned into limits for blocks.
#include "lamina/backend/cpu/blocking.h"

#include "lamina/platform/process.h"

namespace lamina::cpu {

CacheBudget MachineBudget(int64_t element_bytes) {
  // 1 MiB where the system does not say (containers, some ARM systems).
  int64_t second_level_bytes = platform::CacheSize_bytes(2);
  if (second_level_bytes <= 0) {
    second_level_bytes = 1 << 20;
  }
  // Half of the cache for packed columns; the rest holds rows, results and what streams through.
  constexpr int64_t kPacked_bytes = 16 << 20;
  return {.column_block = second_level_bytes / 2 / element_bytes,
          .packed = kPacked_bytes / element_bytes,
          .depth = 4096 / element_bytes};
}

}  // namespace lamina::cpu
