// A page of the browser has no mappings: a file's content is read into memory of the heap.
#include "lamina/platform/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace lamina::platform {
namespace {

constexpr size_t kAlignment = 4096;

void* Allocate(int64_t size_bytes, size_t alignment = kAlignment) {
  const size_t whole = (static_cast<size_t>(size_bytes) + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole);
}

void* ReadWhole(int descriptor, int64_t size_bytes, int64_t offset) {
  auto* const memory = static_cast<char*>(Allocate(size_bytes));
  for (int64_t at = 0; memory != nullptr && at < size_bytes;) {
    const ssize_t got = pread(descriptor, memory + at, static_cast<size_t>(size_bytes - at), offset + at);
    if (got <= 0) {  // cut short meanwhile: zeros, as behind the end of a mapped file
      std::memset(memory + at, 0, static_cast<size_t>(size_bytes - at));
      break;
    }
    at += got;
  }
  return memory;
}

}  // namespace

int64_t PageSize_bytes() noexcept { return kAlignment; }

void* MapFile(int descriptor, int64_t size_bytes, bool writable, int64_t offset) noexcept {
  if (writable) {
    errno = ENODEV;
    return nullptr;
  }
  return ReadWhole(descriptor, size_bytes, offset);
}

void* MapFileForOwn(int descriptor, int64_t size_bytes) noexcept { return ReadWhole(descriptor, size_bytes, 0); }

void* MapZeros(int64_t size_bytes, int64_t alignment, bool /*overcommit*/) noexcept {
  void* const memory = Allocate(size_bytes, std::max(kAlignment, static_cast<size_t>(alignment)));
  if (memory != nullptr) {
    std::memset(memory, 0, static_cast<size_t>(size_bytes));
  }
  return memory;
}

void Unmap(void* memory, int64_t /*size_bytes*/) noexcept { std::free(memory); }

void ReleasePages(void* /*memory*/, int64_t /*size_bytes*/) noexcept {}
void PrefetchPages(void* /*memory*/, int64_t /*size_bytes*/) noexcept {}
void PreferLargePages(void* /*memory*/, int64_t /*size_bytes*/) noexcept {}

}  // namespace lamina::platform
