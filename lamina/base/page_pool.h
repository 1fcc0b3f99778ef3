// Memory in pages of 2 MiB where the system has them. A large layer needs more small pages than a processor remembers
// the places of, and a virtual machine looks up each place twice (docs/decisions/0042-large-pages.md).
#pragma once

#include <cstdint>

namespace lamina {

/// Below: the heap's business. With AddressSanitizer everything is, for it to see what is written behind the end.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int64_t kLeastPooled_bytes = INT64_MAX;
#else
inline constexpr int64_t kLeastPooled_bytes = 16 << 10;
#endif

/// 64-byte aligned memory that is zero; null where there is none. Pieces lie side by side in large pages. Any thread.
void* AllocatePages(int64_t size_bytes) noexcept;
/// `memory` of AllocatePages(size_bytes).
void FreePages(void* memory, int64_t size_bytes) noexcept;

}  // namespace lamina
