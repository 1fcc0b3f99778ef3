// Reads and copies arrays larger than the caches.
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/measure/memory_bandwidth.cc"
#include <hwy/foreach_target.h>
// Highway's include comes after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lamina::HWY_NAMESPACE {

// Sum of the words in eight chains of the widest vectors; a rest shorter than that is left out.
uint64_t SumWords(const uint64_t* words, int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint64_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (int64_t i = 0; i + 8 * lanes <= count; i += 8 * lanes) {
    const uint64_t* p = words + i;
    s0 = hn::Add(s0, hn::LoadU(d, p));
    s1 = hn::Add(s1, hn::LoadU(d, p + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, p + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, p + 3 * lanes));
    s4 = hn::Add(s4, hn::LoadU(d, p + 4 * lanes));
    s5 = hn::Add(s5, hn::LoadU(d, p + 5 * lanes));
    s6 = hn::Add(s6, hn::LoadU(d, p + 6 * lanes));
    s7 = hn::Add(s7, hn::LoadU(d, p + 7 * lanes));
  }
  const auto a = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const auto b = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::Add(a, b));
}

}  // namespace lamina::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/base/buffer.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"
#include "lamina/measure/memory_bandwidth.h"

namespace lamina {
namespace {

HWY_EXPORT(SumWords);

constexpr int64_t kArray_bytes = int64_t{256} << 20;
constexpr int kBandwidthRuns = 5;

struct Part {
  int64_t begin;
  int64_t end;
};

Part PartOf(int thread, int threads, int64_t count) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

uint64_t Sum(const uint64_t* words, Part part) {
  return HWY_DYNAMIC_DISPATCH(SumWords)(words + part.begin, part.end - part.begin);
}

// Seconds of fn(thread) on all threads, the best of kBandwidthRuns.
template <class Fn>
double BestSeconds(int threads, const Fn& fn) {
  double best = 1e30;
  for (int run = 0; run < kBandwidthRuns; ++run) {
    const Stopwatch watch;
    RunParts(threads, threads, [&](int64_t begin, int64_t end) {
      for (int64_t thread = begin; thread < end; ++thread) {  // more than one where the team is smaller
        fn(static_cast<int>(thread));
      }
    });
    best = std::min(best, watch.Elapsed_seconds());
  }
  return best;
}

}  // namespace

MemoryBandwidth MeasureMemoryBandwidth(int threads) {
  cpu::ApplyInstructionSets();
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
  std::atomic<uint64_t> sink = 0;
  const double read_seconds = BestSeconds(threads, [&](int thread) {
    const uint64_t sum = Sum(reinterpret_cast<const uint64_t*>(source), PartOf(thread, threads, kWords));
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
  cpu::ApplyInstructionSets();
  const int64_t words = size_bytes / 8;
  const AlignedBuffer from(8 * words * threads);
  auto* source = static_cast<uint64_t*>(from.data());
  constexpr int64_t kRead_bytes = int64_t{1} << 30;  // a run
  const int64_t repeats = std::max<int64_t>(1, kRead_bytes / std::max<int64_t>(1, size_bytes));
  std::atomic<uint64_t> sink = 0;
  const double seconds = BestSeconds(threads, [&](int thread) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < repeats; ++i) {
      sum += Sum(source + thread * words, {0, words});
      asm volatile("" ::: "memory");  // the same words once more
    }
    sink += sum;
  });
  return static_cast<double>(8 * words * threads * repeats) / seconds + (sink == 1 ? 1.0 : 0.0);
}

}  // namespace lamina
#endif  // HWY_ONCE
