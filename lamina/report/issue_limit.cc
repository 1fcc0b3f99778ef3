// Measures how much synapse arithmetic the processor issues.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/report/issue_limit.cc"
#include <hwy/foreach_target.h>
// Highway's include comes after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lamina::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// How one more synapse is added to `sum`; x and w differ from round to round, so that nothing is hoisted.
struct DotTerm {
  template <class V>
  HWY_INLINE V operator()(V x, V w, V sum, V) const {
    return hn::MulAdd(x, w, sum);
  }
};
struct AbsoluteTerm {
  template <class V>
  HWY_INLINE V operator()(V x, V w, V sum, V one) const {
    return hn::MulAdd(hn::Abs(hn::Sub(x, w)), one, sum);
  }
};
struct SquareTerm {
  template <class V>
  HWY_INLINE V operator()(V x, V w, V sum, V) const {
    const V difference = hn::Sub(x, w);
    return hn::MulAdd(difference, difference, sum);
  }
};

// `count` rounds of 12 independent sums, enough to hide the latency of two arithmetic pipes. w comes from the
// first-level cache: loads have pipes of their own.
template <class Term, class T>
HWY_NOINLINE T Sums(int64_t count, T start) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kRows = 8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN T w[kRows * HWY_MAX_BYTES / sizeof(T)];
  for (int64_t i = 0; i < kRows * lanes; ++i) {
    w[i] = start + static_cast<T>(i) * static_cast<T>(1e-6);
  }
  const Term term;
  const auto one = hn::Set(d, T(1));
  // Sums and inputs that are alike would be merged into one by the compiler.
  const auto from = [&](int i) { return hn::Set(d, start + static_cast<T>(i) * static_cast<T>(1e-3)); };
  const auto x0 = from(0), x1 = from(1), x2 = from(2), x3 = from(3), x4 = from(4), x5 = from(5);
  const auto x6 = from(6), x7 = from(7), x8 = from(8), x9 = from(9), x10 = from(10), x11 = from(11);
  auto s0 = from(20), s1 = from(21), s2 = from(22), s3 = from(23), s4 = from(24), s5 = from(25);
  auto s6 = from(26), s7 = from(27), s8 = from(28), s9 = from(29), s10 = from(30), s11 = from(31);
  for (int64_t i = 0; i < count; ++i) {
    const auto v = hn::Load(d, w + i % kRows * lanes);
    s0 = term(x0, v, s0, one), s1 = term(x1, v, s1, one), s2 = term(x2, v, s2, one);
    s3 = term(x3, v, s3, one), s4 = term(x4, v, s4, one), s5 = term(x5, v, s5, one);
    s6 = term(x6, v, s6, one), s7 = term(x7, v, s7, one), s8 = term(x8, v, s8, one);
    s9 = term(x9, v, s9, one), s10 = term(x10, v, s10, one), s11 = term(x11, v, s11, one);
  }
  const auto a = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const auto b = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  return hn::GetLane(hn::Add(a, b));
}

template <class T>
double SumsFor(int synapse, int64_t count, double start) {
  const auto from = static_cast<T>(start);
  switch (synapse) {
    case 0: return static_cast<double>(Sums<DotTerm>(count, from));
    case 1: return static_cast<double>(Sums<AbsoluteTerm>(count, from));
    default: return static_cast<double>(Sums<SquareTerm>(count, from));
  }
}

double SumsF32(int synapse, int64_t count, double start) { return SumsFor<float>(synapse, count, start); }
double SumsF64(int synapse, int64_t count, double start) { return SumsFor<double>(synapse, count, start); }
int64_t Lanes_bytes() { return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<uint8_t>())); }

}  // namespace lamina::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include <algorithm>

#include "lamina/base/timing.h"
#include "lamina/report/issue_limit.h"

namespace lamina {
namespace {

HWY_EXPORT(SumsF32);
HWY_EXPORT(SumsF64);
HWY_EXPORT(Lanes_bytes);

constexpr int64_t kSums = 12;
constexpr int64_t kRounds = 1'500'000;
constexpr int kRuns = 8;

}  // namespace

double MeasureSynapseLimit(Synapse synapse, DType dtype, int threads) {
  const int64_t lanes = HWY_DYNAMIC_DISPATCH(Lanes_bytes)() / DTypeSize_bytes(dtype);
  const int kind = synapse == Synapse::kDot ? 0 : (synapse == Synapse::kL1 ? 1 : 2);
  double best_seconds = 1e30;
  double sink = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    {
      const double start = 0.5 + omp_get_thread_num();
      sink += dtype == DType::kF64 ? HWY_DYNAMIC_DISPATCH(SumsF64)(kind, kRounds, start)
                                   : HWY_DYNAMIC_DISPATCH(SumsF32)(kind, kRounds, start);
    }
    best_seconds = std::min(best_seconds, watch.Elapsed_seconds());
  }
  const auto synapses = static_cast<double>(kSums * kRounds * lanes * threads);
  // The sum keeps the compiler from dropping the work; it is far from this bound.
  return synapses / best_seconds + (sink > 1e300 ? 1.0 : 0.0);
}

double MeasureFmaPeak_gflops(DType dtype, int threads) {
  return 2e-9 * MeasureSynapseLimit(Synapse::kDot, dtype, threads);
}

}  // namespace lamina
#endif  // HWY_ONCE
