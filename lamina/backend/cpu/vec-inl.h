// The formulas over vectors.
#if defined(LAMINA_BACKEND_CPU_VEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_VEC_INL_H_
#undef LAMINA_BACKEND_CPU_VEC_INL_H_
#else
#define LAMINA_BACKEND_CPU_VEC_INL_H_
#endif

#include <tuple>

#include "lamina/backend/cpu/vec_math-inl.h"
#include "lamina/neuron/formulas.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// A vector dressed as a number, for formulas.inc.
template <class T>
struct Pack {
  VecOf<T> v;

  HWY_INLINE explicit Pack(double x) : v(hn::Set(Tag<T>(), static_cast<T>(x))) {}
  HWY_INLINE explicit Pack(VecOf<T> vec) : v(vec) {}

  friend HWY_INLINE Pack operator+(Pack a, Pack b) { return Pack(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Pack operator-(Pack a, Pack b) { return Pack(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Pack operator*(Pack a, Pack b) { return Pack(hn::Mul(a.v, b.v)); }
  friend HWY_INLINE Pack operator/(Pack a, Pack b) { return Pack(hn::Div(a.v, b.v)); }
  friend HWY_INLINE auto operator<(Pack a, Pack b) { return hn::Lt(a.v, b.v); }
  friend HWY_INLINE auto operator>(Pack a, Pack b) { return hn::Gt(a.v, b.v); }
};

template <class T>
HWY_INLINE Pack<T> Exp(Pack<T> x) {
  return Pack<T>(ExpVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Log(Pack<T> x) {
  return Pack<T>(LogVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Tanh(Pack<T> x) {
  return Pack<T>(TanhVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Sin(Pack<T> x) {
  return Pack<T>(SinVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Log1p(Pack<T> x) {
  return Pack<T>(Log1pVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Sqrt(Pack<T> x) {
  return Pack<T>(hn::Sqrt(x.v));
}
template <class T>
HWY_INLINE Pack<T> Abs(Pack<T> x) {
  return Pack<T>(hn::Abs(x.v));
}
template <class T>
HWY_INLINE Pack<T> Sign(Pack<T> x) {
  return Pack<T>(SignVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> MulAdd(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::MulAdd(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> MulSub(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::MulSub(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> NegMulAdd(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::NegMulAdd(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> Max(Pack<T> a, Pack<T> b) {
  return Pack<T>(MaxVec<T>(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> Min(Pack<T> a, Pack<T> b) {
  return Pack<T>(MinVec<T>(a.v, b.v));
}
template <class M, class T>
HWY_INLINE Pack<T> Select(M condition, Pack<T> yes, Pack<T> no) {
  return Pack<T>(hn::IfThenElse(condition, yes.v, no.v));
}

namespace formulas {
#include "lamina/neuron/formulas.inc"
}  // namespace formulas

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
