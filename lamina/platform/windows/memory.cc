// VirtualAlloc and sections of files.
#include "lamina/platform/memory.h"

#include <cerrno>
#include <cstddef>

#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

bool IsOfFile(void* memory) {
  MEMORY_BASIC_INFORMATION about{};
  return VirtualQuery(memory, &about, sizeof about) != 0 && about.Type == MEM_MAPPED;
}

void* Map(int descriptor, int64_t size_bytes, DWORD protection, DWORD access, int64_t offset) {
  const auto end = static_cast<uint64_t>(offset + size_bytes);
  const DWORD high = protection == PAGE_READWRITE ? static_cast<DWORD>(end >> 32U) : 0;
  const DWORD low = protection == PAGE_READWRITE ? static_cast<DWORD>(end) : 0;
  const HANDLE section = CreateFileMappingW(windows::HandleOf(descriptor), nullptr, protection, high, low, nullptr);
  if (section == nullptr) {
    windows::Failed();
    return nullptr;
  }
  void* const mapped = MapViewOfFile(section, access, static_cast<DWORD>(static_cast<uint64_t>(offset) >> 32U),
                                     static_cast<DWORD>(offset), static_cast<size_t>(size_bytes));
  const DWORD error = GetLastError();
  CloseHandle(section);  // the view keeps it
  if (mapped == nullptr) {
    windows::Failed(error);
  }
  return mapped;
}

}  // namespace

int64_t PageSize_bytes() noexcept {  // where views of files may begin: coarser than a page
  SYSTEM_INFO info{};
  GetSystemInfo(&info);
  return info.dwAllocationGranularity;
}

void* MapFile(int descriptor, int64_t size_bytes, bool writable, int64_t offset) noexcept {
  return writable ? Map(descriptor, size_bytes, PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE, offset)
                  : Map(descriptor, size_bytes, PAGE_READONLY, FILE_MAP_READ, offset);
}

void* MapFileForOwn(int descriptor, int64_t size_bytes) noexcept {
  return Map(descriptor, size_bytes, PAGE_WRITECOPY, FILE_MAP_COPY, 0);
}

// Memory is promised when it is asked for, whatever `overcommit` says: there is nothing else.
void* MapZeros(int64_t size_bytes, int64_t alignment, bool) noexcept {
  const auto size = static_cast<size_t>(size_bytes);
  for (int tries = 0; tries < 16; ++tries) {
    // A part of a reservation cannot be given back, so its place is found first, and taken then, unless another thread
    // was quicker.
    void* const found = VirtualAlloc(nullptr, size + static_cast<size_t>(alignment), MEM_RESERVE, PAGE_NOACCESS);
    if (found == nullptr) {
      break;
    }
    VirtualFree(found, 0, MEM_RELEASE);
    const auto mask = static_cast<uintptr_t>(alignment) - 1;
    void* const place = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(found) + mask) & ~mask);
    if (void* const memory = VirtualAlloc(place, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)) {
      return memory;
    }
    if (GetLastError() != ERROR_INVALID_ADDRESS) {
      break;
    }
  }
  windows::Failed();
  return nullptr;
}

void Unmap(void* memory, int64_t) noexcept {
  if (IsOfFile(memory)) {
    UnmapViewOfFile(memory);
  } else {
    VirtualFree(memory, 0, MEM_RELEASE);
  }
}

void ReleasePages(void* memory, int64_t size_bytes) noexcept {
  const auto size = static_cast<size_t>(size_bytes);
  if (IsOfFile(memory)) {
    VirtualUnlock(memory, size);  // of pages that nobody locked: takes them out of the working set
  } else if (VirtualFree(memory, size, MEM_DECOMMIT) != 0) {
    VirtualAlloc(memory, size, MEM_COMMIT, PAGE_READWRITE);
  }
}

void PrefetchPages(void* memory, int64_t size_bytes) noexcept {
  WIN32_MEMORY_RANGE_ENTRY range{memory, static_cast<size_t>(size_bytes)};
  PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0);
}

void PreferLargePages(void*, int64_t) noexcept {}  // they need a right that few users have

}  // namespace lamina::platform
