// Terms of neighboring elements at once, as one word: four bytes by one instruction, two halves by two.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/base/half.h"
#include "lamina/neuron/formulas.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kWord_bytes = 4;

/// Adds the four terms of two words to a sum. Words of zeros add nothing.
template <class Term, class E>
struct PackedTerm {
  static constexpr bool kExists = false;
};

template <>
struct PackedTerm<formulas::AbsoluteDifferenceTerm, uint8_t> {
  static constexpr bool kExists = true;
  __device__ static int32_t Add(uint32_t a, uint32_t b, int32_t sum) {
#if defined(LAMINA_CUDA_EMULATED)
    for (int shift = 0; shift < 32; shift += 8) {
      const auto x = static_cast<int32_t>(a >> shift & 0xFF);
      const auto w = static_cast<int32_t>(b >> shift & 0xFF);
      sum += x > w ? x - w : w - x;
    }
    return sum;
#else
    uint32_t result;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(static_cast<uint32_t>(sum)));
    return static_cast<int32_t>(result);
#endif
  }
};

/// Signed bytes moved by 128 have the same differences.
template <>
struct PackedTerm<formulas::AbsoluteDifferenceTerm, int8_t> {
  static constexpr bool kExists = true;
  __device__ static int32_t Add(uint32_t a, uint32_t b, int32_t sum) {
    return PackedTerm<formulas::AbsoluteDifferenceTerm, uint8_t>::Add(a ^ 0x80808080U, b ^ 0x80808080U, sum);
  }
};

template <>
struct PackedTerm<formulas::ProductTerm, int8_t> {
  static constexpr bool kExists = true;
  __device__ static int32_t Add(uint32_t a, uint32_t b, int32_t sum) {
#if defined(LAMINA_CUDA_EMULATED)
    for (int shift = 0; shift < 32; shift += 8) {
      sum += int32_t{static_cast<int8_t>(a >> shift)} * int32_t{static_cast<int8_t>(b >> shift)};
    }
    return sum;
#else
    return __dp4a(static_cast<int>(a), static_cast<int>(b), sum);
#endif
  }
};

template <>
struct PackedTerm<formulas::ProductTerm, uint8_t> {
  static constexpr bool kExists = true;
  __device__ static int32_t Add(uint32_t a, uint32_t b, int32_t sum) {
#if defined(LAMINA_CUDA_EMULATED)
    for (int shift = 0; shift < 32; shift += 8) {
      sum += static_cast<int32_t>((a >> shift & 0xFF) * (b >> shift & 0xFF));
    }
    return sum;
#else
    return static_cast<int32_t>(__dp4a(a, b, static_cast<uint32_t>(sum)));
#endif
  }
};

/// Pairs of E, Float16 or BFloat16: sums of |a - b| of both halves apart, rounded to E, and their sum in f32.
template <class E>
struct PairSum {
  /// Words that are added before the sums go to f32. With 16, a slab, each result is off by at most 17 roundings of its
  /// terms.
  static constexpr int kWords = 16;

#if defined(LAMINA_CUDA_EMULATED)
  __device__ static E Half(uint32_t word, int half) {
    E value;
    value.bits = static_cast<uint16_t>(word >> 16 * half);
    return value;
  }
  __device__ static uint32_t Add(uint32_t a, uint32_t b, uint32_t sums) {
    uint32_t result = 0;
    for (int half = 0; half < 2; ++half) {
      const E term(static_cast<float>(Half(a, half)) - static_cast<float>(Half(b, half)));
      const float magnitude = static_cast<float>(term) < 0 ? -static_cast<float>(term) : static_cast<float>(term);
      const E sum(static_cast<float>(Half(sums, half)) + magnitude);
      result |= static_cast<uint32_t>(sum.bits) << 16 * half;
    }
    return result;
  }
  __device__ static float Finish(uint32_t sums) {
    return static_cast<float>(Half(sums, 0)) + static_cast<float>(Half(sums, 1));
  }
#else
  using Pair = std::conditional_t<std::is_same_v<E, Float16>, __half2, __nv_bfloat162>;
  __device__ static Pair ToPair(uint32_t word) { return *reinterpret_cast<const Pair*>(&word); }
  __device__ static uint32_t Add(uint32_t a, uint32_t b, uint32_t sums) {
    const Pair sum = __hadd2(ToPair(sums), __habs2(__hsub2(ToPair(a), ToPair(b))));
    return *reinterpret_cast<const uint32_t*>(&sum);
  }
  __device__ static float Finish(uint32_t sums) {
    const Pair pair = ToPair(sums);
    return __low2float(pair) + __high2float(pair);
  }
#endif
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
