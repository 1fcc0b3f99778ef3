// Vectors per instruction set: loads and stores of row ends, loops, the largest, the smallest and the sign.
#if defined(LAMINA_BACKEND_CPU_VEC_BASE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_VEC_BASE_INL_H_
#undef LAMINA_BACKEND_CPU_VEC_BASE_INL_H_
#else
#define LAMINA_BACKEND_CPU_VEC_BASE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "hwy/highway.h"

// Without vectors nobody expects speed: a fifth less to compile. This instruction set comes last in every file.
#if HWY_TARGET == HWY_SCALAR
#pragma GCC optimize("O1")
#endif

HWY_BEFORE_NAMESPACE();
#ifdef __wasm_relaxed_simd__  // multiply-add by one instruction: these are taken before Highway's own functions
namespace hwy::HWY_NAMESPACE {
template <size_t kN>
HWY_API Vec128<float, kN> MulAdd(Vec128<float, kN> a, Vec128<float, kN> b, Vec128<float, kN> c) {
  return Vec128<float, kN>{wasm_f32x4_relaxed_madd(a.raw, b.raw, c.raw)};
}
template <size_t kN>
HWY_API Vec128<double, kN> MulAdd(Vec128<double, kN> a, Vec128<double, kN> b, Vec128<double, kN> c) {
  return Vec128<double, kN>{wasm_f64x2_relaxed_madd(a.raw, b.raw, c.raw)};
}
template <size_t kN>
HWY_API Vec128<float, kN> NegMulAdd(Vec128<float, kN> a, Vec128<float, kN> b, Vec128<float, kN> c) {
  return Vec128<float, kN>{wasm_f32x4_relaxed_nmadd(a.raw, b.raw, c.raw)};
}
template <size_t kN>
HWY_API Vec128<double, kN> NegMulAdd(Vec128<double, kN> a, Vec128<double, kN> b, Vec128<double, kN> c) {
  return Vec128<double, kN>{wasm_f64x2_relaxed_nmadd(a.raw, b.raw, c.raw)};
}
template <size_t kN>
HWY_API Vec128<float, kN> MulSub(Vec128<float, kN> a, Vec128<float, kN> b, Vec128<float, kN> c) {
  return MulAdd(a, b, Neg(c));
}
template <size_t kN>
HWY_API Vec128<double, kN> MulSub(Vec128<double, kN> a, Vec128<double, kN> b, Vec128<double, kN> c) {
  return MulAdd(a, b, Neg(c));
}
}  // namespace hwy::HWY_NAMESPACE
#endif
namespace lamina::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using VecOf = hn::Vec<Tag<T>>;
template <class T>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
// The elements in a cache line.
template <class T>
inline constexpr int64_t kLineElements = 64 / static_cast<int64_t>(sizeof(T));

/// In functions that only ask for cache lines. To GCC they have no effect, so it leaves out calls of them.
HWY_INLINE void KeepCalls() { asm volatile(""); }

// Whether masked loads and stores touch only the lanes asked for; elsewhere Highway may read the whole
// vector.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
inline constexpr bool kSafeMasks = true;
#else
inline constexpr bool kSafeMasks = false;
#endif

/// The first n (< lanes) elements at p, zeros after them; reads nothing beyond.
template <class T>
HWY_INLINE VecOf<T> LoadTail(const T* HWY_RESTRICT p, int64_t n) {
  const Tag<T> d;
  if constexpr (kSafeMasks) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, p);
  } else {
    HWY_ALIGN T lanes[kLanes<T>] = {};
    std::memcpy(lanes, p, static_cast<size_t>(n) * sizeof(T));
    return hn::Load(d, lanes);
  }
}

/// Stores the first n (< lanes) elements of v at p.
template <class T>
HWY_INLINE void StoreTail(VecOf<T> v, T* HWY_RESTRICT p, int64_t n) {
  const Tag<T> d;
  if constexpr (kSafeMasks) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, p);
  } else {
    HWY_ALIGN T lanes[kLanes<T>];
    hn::Store(v, d, lanes);
    std::memcpy(p, lanes, static_cast<size_t>(n) * sizeof(T));
  }
}

/// out[i] = fn(ins[i]...) over whole vectors and one tail; every pointer may be unaligned.
template <class T, class Fn, class... Ins>
HWY_INLINE void Transform(int64_t n, T* out, const Fn& fn, const Ins*... ins) {
  const Tag<T> d;
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    hn::StoreU(fn(hn::LoadU(d, ins + i)...), d, out + i);
  }
  if (i < n) {
    StoreTail<T>(fn(LoadTail<T>(ins + i, n - i)...), out + i, n - i);
  }
}

/// Copies n elements, few more than a vector or less. Without masks where these are slow (AVX2): two pieces that
/// overlap.
template <class T>
HWY_INLINE void CopyFew(const T* from, int64_t n, T* to) {
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL) {
    Transform<T>(
        n, to, [](VecOf<T> v) HWY_ATTR { return v; }, from);
  } else {
    const auto overlapping = [&](auto d) HWY_ATTR {
      const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
      for (int64_t i = 0; i + lanes < n; i += lanes) {
        hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      }
      hn::StoreU(hn::LoadU(d, from + n - lanes), d, to + n - lanes);
    };
    constexpr int64_t kHalf = std::max<int64_t>(1, kLanes<T> / 2);
    if (n >= kLanes<T>) {
      overlapping(Tag<T>());
    } else if (n >= kHalf) {
      overlapping(hn::FixedTag<T, kHalf>());
    } else {
      std::copy_n(from, n, to);
    }
  }
}

// Where one of two arguments is NaN, x86's max and min return the second, as formulas.h wants; others differ.
template <class T>
HWY_INLINE VecOf<T> MaxVec(VecOf<T> a, VecOf<T> b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Max(a, b);
#else
  return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}
template <class T>
HWY_INLINE VecOf<T> MinVec(VecOf<T> a, VecOf<T> b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

/// 1, -1, or x itself where x is zero or NaN.
template <class T>
HWY_INLINE VecOf<T> SignVec(VecOf<T> x) {
  const Tag<T> d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // One instruction that answers by the class of its operand. Four bits a class, from the lowest: quiet NaN, signalling
  // NaN, zero, 1, -infinity, infinity, negative, positive. 1: the operand; 8, 9, 10: 0, -1, 1.
  constexpr int kAnswers = static_cast<int>(0xA9A9A111U);
  if constexpr (sizeof(T) == 4) {
    return VecOf<T>{_mm512_fixupimm_ps(x.raw, x.raw, _mm512_set1_epi32(kAnswers), 0)};
  } else {
    return VecOf<T>{_mm512_fixupimm_pd(x.raw, x.raw, _mm512_set1_epi64(kAnswers), 0)};
  }
#elif HWY_TARGET == HWY_AVX2
  // Its Ne is false for NaN, too: an instruction less in the loop of gradients, which are 1.1 times as fast.
  return hn::IfThenElse(hn::Ne(x, hn::Zero(d)), hn::CopySignToAbs(hn::Set(d, static_cast<T>(1)), x), x);
#else
  const auto one = hn::CopySign(hn::Set(d, static_cast<T>(1)), x);
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), one, x);
#endif
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
