// The arithmetic of a Sum on values in registers: the limit of what a kernel can reach (measure/issue_limit.h).
#if defined(LAMINA_BACKEND_CPU_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_REGISTERS_INL_H_
#undef LAMINA_BACKEND_CPU_REGISTERS_INL_H_
#else
#define LAMINA_BACKEND_CPU_REGISTERS_INL_H_
#endif

#include "lamina/backend/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// `rounds` rounds of kRegisterSums independent sums, enough to hide the latency of two arithmetic pipes. Loads have
/// pipes of their own, so w comes from the first-level cache. It differs between rounds, so nothing is hoisted.
template <class Sum, class T>
HWY_NOINLINE T RegisterSums(int64_t rounds, T start) {
  const Tag<T> d;
  constexpr int64_t kRows = 8;
  HWY_ALIGN T w[kRows * kLanes<T>];
  for (int64_t i = 0; i < kRows * kLanes<T>; ++i) {
    w[i] = static_cast<T>(static_cast<double>(start) + static_cast<double>(i) * 1e-3);
  }
  // Sums and inputs that are alike would be merged into one by the compiler.
  const auto from = [&](int i) HWY_ATTR { return hn::Set(d, static_cast<T>(static_cast<double>(start) + i)); };
  const auto x0 = from(0), x1 = from(1), x2 = from(2), x3 = from(3), x4 = from(4), x5 = from(5);
  const auto x6 = from(6), x7 = from(7), x8 = from(8), x9 = from(9), x10 = from(10), x11 = from(11);
  auto s0 = from(20), s1 = from(21), s2 = from(22), s3 = from(23), s4 = from(24), s5 = from(25);
  auto s6 = from(26), s7 = from(27), s8 = from(28), s9 = from(29), s10 = from(30), s11 = from(31);
  const auto add = [](VecOf<T> x, VecOf<T> v, VecOf<T>& sum)
                       HWY_ATTR { sum = Sum::template Accumulate<T>(x, v, v, sum); };
  for (int64_t i = 0; i < rounds; ++i) {
    const auto v = hn::Load(d, w + i % kRows * kLanes<T>);
    add(x0, v, s0), add(x1, v, s1), add(x2, v, s2), add(x3, v, s3), add(x4, v, s4), add(x5, v, s5);
    add(x6, v, s6), add(x7, v, s7), add(x8, v, s8), add(x9, v, s9), add(x10, v, s10), add(x11, v, s11);
  }
  const auto a = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const auto b = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  return hn::GetLane(hn::Add(a, b));
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
