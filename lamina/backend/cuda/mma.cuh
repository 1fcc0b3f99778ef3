// Products of small matrices by a warp on the tensor cores (mma.sync, compute capability 8.0 on), and loads of their
// operands. With g = lane / 4 and t = lane % 4, registers of A (16 lines) hold columns t of lines g and g + 8, then
// their columns t + 4. Those of B (8 lines) hold columns t and t + 4 of line g; a column is a register's worth of k.
// Sums are (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#pragma once

#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/base/half.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// What is multiplied, as the tensor cores take it: numbers of a register, k of one product, sums in f32.
struct Tf32 {
  static constexpr int kPerRegister = 1;
};
template <class E>
struct Halves {  // Float16 or BFloat16
  static constexpr int kPerRegister = 2;
};
template <class Kind>
inline constexpr int kMmaDepth = 8 * Kind::kPerRegister;
inline constexpr int kMmaRows = 16;
inline constexpr int kMmaCols = 8;

/// `value` rounded to TF32: 10 bits of mantissa, ties away from 0.
__device__ inline uint32_t ToTf32(float value) {
  uint32_t bits = 0;
#if defined(LAMINA_CUDA_EMULATED)
  std::memcpy(&bits, &value, sizeof(bits));
  return value != value ? 0x7FC00000U : (bits + 0x1000U) & 0xFFFFE000U;
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
#endif
}

__device__ inline float FloatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Both rounded to bf16, to nearest even; `low` in the lower half.
__device__ inline uint32_t ToBFloat16s(float low, float high) {
#if defined(LAMINA_CUDA_EMULATED)
  return static_cast<uint32_t>(BFloat16(high).bits) << 16 | BFloat16(low).bits;
#else
  uint32_t bits = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
#endif
}

/// Four matrices of 8 rows of 16 bytes: row i of matrix j starts at the address that lane 8 j + i gives. Register j of
/// a lane is word t of row g of matrix j.
__device__ inline void LoadMatrices(uint32_t (&to)[4], const void* row) {
#if defined(LAMINA_CUDA_EMULATED)
  const auto rows = emulator::Exchange(row);
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned j = 0; j < 4; ++j) {
    const void* const from = rows[8 * j + lane / 4];
    if (reinterpret_cast<uintptr_t>(from) % 16 != 0) {
      emulator::Fail("a misaligned load of a matrix");
    }
    std::memcpy(&to[j], static_cast<const char*>(from) + 4 * (lane % 4), sizeof(to[j]));
  }
#else
  const uint32_t from = SharedAddress(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
#endif
}

#if defined(LAMINA_CUDA_EMULATED)
/// Number `which` of a register.
template <class Kind>
float NumberOf(uint32_t bits, int which) {
  if constexpr (std::is_same_v<Kind, Tf32>) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if ((bits & 0x1FFFU) != 0) {
      emulator::Fail("an operand of a product that was not rounded to TF32");
    }
    return value;
  } else {
    return [&]<class E>(Halves<E>) {
      E value;
      value.bits = static_cast<uint16_t>(bits >> 16 * which);
      return static_cast<float>(value);
    }(Kind{});
  }
}
#endif

/// sums += A B^T, of fragments of a whole warp.
template <class Kind>
__device__ inline void MultiplyAdd(float (&sums)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if defined(LAMINA_CUDA_EMULATED)
  struct Given {
    uint32_t a[4];
    uint32_t b[2];
  };
  Given own{};
  std::copy_n(a, 4, own.a);
  std::copy_n(b, 2, own.b);
  const auto given = emulator::Exchange(own);
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned line = 2 * (lane % 4) + i % 2;
    for (unsigned col = 0; col < 8; ++col) {
      const uint32_t left = given[lane / 4 * 4 + col % 4].a[i / 2 + col / 4 * 2];
      const uint32_t right = given[line * 4 + col % 4].b[col / 4];
      for (int which = 0; which < Kind::kPerRegister; ++which) {
        sums[i] += NumberOf<Kind>(left, which) * NumberOf<Kind>(right, which);
      }
    }
  }
#else
  if constexpr (std::is_same_v<Kind, Tf32>) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else if constexpr (std::is_same_v<Kind, Halves<BFloat16> >) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
