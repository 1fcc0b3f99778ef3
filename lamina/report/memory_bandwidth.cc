// Reads and copies arrays larger than the caches.
#include "lamina/report/memory_bandwidth.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lamina/base/buffer.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

constexpr int64_t kArray_bytes = int64_t{256} << 20;
constexpr int kRuns = 5;

struct Part {
  int64_t begin;
  int64_t end;
};

Part PartOf(int thread, int threads, int64_t count) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

// Sums 64-bit words in eight chains.
uint64_t Sum(const uint64_t* words, Part part) {
  uint64_t sums[8] = {};
  for (int64_t i = part.begin; i + 8 <= part.end; i += 8) {
    for (int j = 0; j < 8; ++j) {
      sums[j] += words[i + j];
    }
  }
  uint64_t sum = 0;
  for (const uint64_t each : sums) {
    sum += each;
  }
  return sum;
}

// Seconds of fn(thread) on all threads, the best of kRuns.
template <class Fn>
double BestSeconds(int threads, const Fn& fn) {
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
#pragma omp parallel num_threads(threads)
    fn(omp_get_thread_num());
    best = std::min(best, watch.Elapsed_seconds());
  }
  return best;
}

}  // namespace

MemoryBandwidth MeasureMemoryBandwidth(int threads) {
  const AlignedBuffer from(kArray_bytes);
  const AlignedBuffer to(kArray_bytes);
  auto* source = static_cast<char*>(from.data());
  auto* target = static_cast<char*>(to.data());
  constexpr int64_t kWords = kArray_bytes / 8;
  BestSeconds(threads, [&](int thread) {  // untimed: every page is touched by the thread that uses it
    const Part part = PartOf(thread, threads, kWords);
    std::memset(source + 8 * part.begin, 1, static_cast<size_t>(8 * (part.end - part.begin)));
    std::memset(target + 8 * part.begin, 2, static_cast<size_t>(8 * (part.end - part.begin)));
  });
  uint64_t sink = 0;
  const double read_seconds = BestSeconds(threads, [&](int thread) {
    const uint64_t sum = Sum(reinterpret_cast<const uint64_t*>(source), PartOf(thread, threads, kWords));
#pragma omp atomic
    sink += sum;
  });
  const double copy_seconds = BestSeconds(threads, [&](int thread) {
    const Part part = PartOf(thread, threads, kWords);
    std::memcpy(target + 8 * part.begin, source + 8 * part.begin, static_cast<size_t>(8 * (part.end - part.begin)));
  });
  MemoryBandwidth bandwidth;
  bandwidth.read_bytes_per_second = static_cast<double>(kArray_bytes) / read_seconds + (sink == 0 ? 1.0 : 0.0);
  bandwidth.copy_bytes_per_second = 2.0 * static_cast<double>(kArray_bytes) / copy_seconds;
  return bandwidth;
}

double MeasureCacheRead_bytes_per_second(int64_t size_bytes, int threads) {
  const int64_t words = size_bytes / 8;
  const AlignedBuffer from(8 * words * threads);
  auto* source = static_cast<uint64_t*>(from.data());
  constexpr int64_t kRead_bytes = int64_t{1} << 30;  // a run
  const int64_t repeats = std::max<int64_t>(1, kRead_bytes / std::max<int64_t>(1, size_bytes));
  uint64_t sink = 0;
  const double seconds = BestSeconds(threads, [&](int thread) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < repeats; ++i) {
      sum += Sum(source + thread * words, {0, words});
      asm volatile("" ::: "memory");  // the same words once more
    }
#pragma omp atomic
    sink += sum;
  });
  return static_cast<double>(8 * words * threads * repeats) / seconds + (sink == 1 ? 1.0 : 0.0);
}

}  // namespace lamina
