// The formulas for plain float and double, and the helpers to pick one of them by index at run time.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#if defined(__CUDACC__)
#define LAMINA_HD __host__ __device__
#else
#define LAMINA_HD
#endif

namespace lamina {

/// The finite numbers that a parameter may be.
/// kLevel: above 0 and below 1; kLevelOrNone: or 0, which is not written.
enum class Domain { kAny, kPositive, kNotZero, kLevel, kLevelOrNone };

/// A named parameter of an activation or a loss: a pointer to a public double member of F.
template <class F>
struct FormulaParameter {
  const char* name;
  double F::*member;
  Domain domain = Domain::kAny;
};
template <class F>
using ActivationParameter = FormulaParameter<F>;

/// What a loss asks of its targets: any numbers; from 0 to
/// 1; summing to 1 over the outputs; 0 or more; or above 0.
enum class LossTargets { kNumbers, kProbabilities, kDistribution, kNotNegative, kPositive };

/// The numbers of an update rule at one step (NumbersOf() in update_rule.h).
template <class T>
struct UpdateNumbers {
  T eta, alpha, lambda;  // learning rate, momentum, decay: 0 for what does not decay
  T beta1, beta2;
  T rest1, rest2;  // 1 - beta, taken in double: 1 - 0.999f is wrong in the fifth digit
  T rate, root;    // with the bias corrected (kCorrectsBias): eta / (1 - beta1^step), 1 / sqrt(1 - beta2^step)
  T epsilon;
};

namespace formulas {

// A NaN in the second argument of Max and Min comes through, as it does in the vector code.
template <class T>
LAMINA_HD T Max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
LAMINA_HD T Min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
LAMINA_HD T Select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
LAMINA_HD inline float Exp(float x) { return std::exp(x); }
LAMINA_HD inline double Exp(double x) { return std::exp(x); }
LAMINA_HD inline float Tanh(float x) { return std::tanh(x); }
LAMINA_HD inline double Tanh(double x) { return std::tanh(x); }
// x is from -10^4 to 10^4. On a GPU, x = n pi + r with pi in parts. CUDA's sine for any number keeps a slow table in
// memory, which every kernel with an activation would have.
LAMINA_HD inline float Sin(float x) {
#if defined(__CUDA_ARCH__)
  const float n = rintf(x * 0.318309886F);
  const float near = fmaf(-n, 0.000967025757F, fmaf(-n, 3.140625F, x));
  const float r = fmaf(-n, 1.21542013e-10F, fmaf(-n, 6.27711415e-07F, near));
  const float sine = sinpif(r * 0.318309886F);
  return (static_cast<int>(n) & 1) != 0 ? -sine : sine;
#else
  return std::sin(x);
#endif
}
LAMINA_HD inline double Sin(double x) {
#if defined(__CUDA_ARCH__)
  const double n = rint(x * 0.31830988618379067154);
  const double r = fma(-n, 1.2246467991473532e-16, fma(-n, 3.141592653589793116, x));
  const double sine = sinpi(r * 0.31830988618379067154);
  return (static_cast<int>(n) & 1) != 0 ? -sine : sine;
#else
  return std::sin(x);
#endif
}
LAMINA_HD inline float Log(float x) { return std::log(x); }
LAMINA_HD inline double Log(double x) { return std::log(x); }
LAMINA_HD inline float Log1p(float x) { return std::log1p(x); }
LAMINA_HD inline double Log1p(double x) { return std::log1p(x); }
LAMINA_HD inline float Sqrt(float x) { return std::sqrt(x); }
LAMINA_HD inline double Sqrt(double x) { return std::sqrt(x); }
LAMINA_HD inline float Abs(float x) { return std::fabs(x); }
LAMINA_HD inline double Abs(double x) { return std::fabs(x); }
LAMINA_HD inline int32_t Abs(int32_t x) { return x < 0 ? -x : x; }
LAMINA_HD inline int64_t Abs(int64_t x) { return x < 0 ? -x : x; }
/// 1, -1, or x itself where x is zero or NaN.
template <class T>
LAMINA_HD T Sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
/// a b + c, rounded once or twice.
template <class T>
LAMINA_HD T MulAdd(T a, T b, T c) {
  return a * b + c;
}
/// a b - c, rounded once or twice.
template <class T>
LAMINA_HD T MulSub(T a, T b, T c) {
  return a * b - c;
}
/// c - a b, rounded once or twice.
template <class T>
LAMINA_HD T NegMulAdd(T a, T b, T c) {
  return c - a * b;
}

#include "lamina/neuron/formulas.inc"

}  // namespace formulas

/// Calls fn(F{}) for the index-th type of the tuple `List`. The index must be in range.
template <class List, class Fn>
decltype(auto) VisitFormula(size_t index, Fn&& fn) {
  return [&]<size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    using Result = decltype(fn(std::tuple_element_t<0, List>{}));
    if constexpr (std::is_void_v<Result>) {
      (void)((index == I ? (fn(std::tuple_element_t<I, List>{}), true) : false) || ...);
    } else {
      Result result{};
      (void)((index == I ? (result = fn(std::tuple_element_t<I, List>{}), true) : false) || ...);
      return result;
    }
  }
  (std::make_index_sequence<std::tuple_size_v<List>>{});
}

}  // namespace lamina
