// Measures how many fused multiply-adds the processor issues.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/report/fma_peak.cc"
#include <hwy/foreach_target.h>
// Highway's include comes after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lamina::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// `count` rounds of 12 independent chains, enough to hide the latency of two multiply-add pipes.
template <class T>
HWY_NOINLINE T Chains(int64_t count, T start) {
  const hn::ScalableTag<T> d;
  const auto x = hn::Set(d, static_cast<T>(1e-9));
  // Chains that start alike would be merged into one by the compiler.
  const auto from = [&](int i) { return hn::Set(d, start + static_cast<T>(i)); };
  auto a0 = from(0), a1 = from(1), a2 = from(2), a3 = from(3), a4 = from(4), a5 = from(5);
  auto b0 = from(6), b1 = from(7), b2 = from(8), b3 = from(9), b4 = from(10), b5 = from(11);
  for (int64_t i = 0; i < count; ++i) {
    a0 = hn::MulAdd(a0, x, x), a1 = hn::MulAdd(a1, x, x), a2 = hn::MulAdd(a2, x, x);
    a3 = hn::MulAdd(a3, x, x), a4 = hn::MulAdd(a4, x, x), a5 = hn::MulAdd(a5, x, x);
    b0 = hn::MulAdd(b0, x, x), b1 = hn::MulAdd(b1, x, x), b2 = hn::MulAdd(b2, x, x);
    b3 = hn::MulAdd(b3, x, x), b4 = hn::MulAdd(b4, x, x), b5 = hn::MulAdd(b5, x, x);
  }
  const auto a = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(a4, a5));
  const auto b = hn::Add(hn::Add(hn::Add(b0, b1), hn::Add(b2, b3)), hn::Add(b4, b5));
  return hn::GetLane(hn::Add(a, b));
}

float ChainsF32(int64_t count, float start) { return Chains<float>(count, start); }
double ChainsF64(int64_t count, double start) { return Chains<double>(count, start); }
int64_t Lanes_bytes() { return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<uint8_t>())); }

}  // namespace lamina::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include <algorithm>

#include "lamina/base/timing.h"
#include "lamina/report/fma_peak.h"

namespace lamina {
namespace {

HWY_EXPORT(ChainsF32);
HWY_EXPORT(ChainsF64);
HWY_EXPORT(Lanes_bytes);

constexpr int64_t kChains = 12;
constexpr int64_t kRounds = 2'000'000;
constexpr int kRuns = 8;

}  // namespace

double MeasureFmaPeak_gflops(DType dtype, int threads) {
  const int64_t lanes = HWY_DYNAMIC_DISPATCH(Lanes_bytes)() / DTypeSize_bytes(dtype);
  double best_seconds = 1e30;
  double sink = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    {
      const int64_t start = omp_get_thread_num();
      sink += dtype == DType::kF64
                  ? HWY_DYNAMIC_DISPATCH(ChainsF64)(kRounds, static_cast<double>(start))
                  : static_cast<double>(HWY_DYNAMIC_DISPATCH(ChainsF32)(kRounds, static_cast<float>(start)));
    }
    best_seconds = std::min(best_seconds, watch.Elapsed_seconds());
  }
  const double operations = 2.0 * static_cast<double>(kChains * kRounds * lanes * threads);
  // The sum keeps the compiler from dropping the work; it is finite and tiny.
  return operations / best_seconds * 1e-9 + (sink > 1e300 ? 1.0 : 0.0);
}

}  // namespace lamina
#endif  // HWY_ONCE
