// Memory by whole pages. What fails leaves its reason in errno.
#pragma once

#include <cstdint>

namespace lamina::platform {

int64_t PageSize_bytes() noexcept;

/// A file's content as memory, shared with all who have it; null where it cannot be.
void* MapFile(int descriptor, int64_t size_bytes, bool writable, int64_t offset) noexcept;
/// The same for this process alone: what is written stays here, and takes memory only then.
void* MapFileForOwn(int descriptor, int64_t size_bytes) noexcept;
/// Zeros that take memory where they are touched, from an address on that is a multiple of `alignment` (a power of two,
/// 1: any). `overcommit`: however little memory there is.
void* MapZeros(int64_t size_bytes, int64_t alignment, bool overcommit) noexcept;
/// All of what one call gave.
void Unmap(void* memory, int64_t size_bytes) noexcept;

/// Whole pages that need not stay in memory: those of files are read again, others are lost.
void ReleasePages(void* memory, int64_t size_bytes) noexcept;
/// Whole pages that are needed soon.
void PrefetchPages(void* memory, int64_t size_bytes) noexcept;
/// Asks for pages of 2 MiB; without them small ones have to do.
void PreferLargePages(void* memory, int64_t size_bytes) noexcept;

}  // namespace lamina::platform
