// The machine's measured memory bandwidth.
#pragma once

#include <cstdint>

namespace lamina {

/// Bytes a second, best of several runs over arrays of 256 MiB, far beyond the caches.
struct MemoryBandwidth {
  double read_bytes_per_second = 0;
  double copy_bytes_per_second = 0;  // read and written bytes both counted
};

/// Takes about half a second and 512 MiB. Throws Error(kResource) where they are not to be had.
MemoryBandwidth MeasureMemoryBandwidth(int threads);

/// Bytes a second that `threads` threads together read again and again, each `size_bytes` of its own: of the cache that
/// holds them. The best of several runs.
double MeasureCacheRead_bytes_per_second(int64_t size_bytes, int threads);

}  // namespace lamina
