// What an x86 processor has and its system keeps, of what kernels ask for. Read from the processor: the compilers' own
// list
// (__builtin_cpu_supports) is empty with the runtime of ziglang.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace lamina::cpu {

/// What the instruction CPUID sets.
struct CpuidRegisters {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// What the instruction says of a leaf and a part of it; nothing of those that this processor does not know.
inline CpuidRegisters Cpuid(unsigned leaf, unsigned part) {
  CpuidRegisters said;
  __get_cpuid_count(leaf, part, &said.a, &said.b, &said.c, &said.d);
  return said;
}

/// XCR0: the registers that the system saves when it changes threads.
inline uint64_t SavedRegisters() {
  constexpr unsigned kMayBeAsked = 1U << 27U;
  uint32_t low = 0;
  uint32_t high = 0;
  if ((Cpuid(1, 0).c & kMayBeAsked) != 0) {
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  }
  return uint64_t{high} << 32U | low;
}

struct X86Features {
  bool avx2 = false;           // and FMA, BMI, BMI2, AES, PCLMUL, F16C and LZCNT: what Highway means by AVX2
  bool avx512 = false;         // and F, VL, DQ, BW and CD beside it
  bool byte_products = false;  // AVX-512 VNNI
  bool bf16_products = false;  // AVX-512 BF16
};

/// By XCR0, and by leaves 1, 7 (its parts 0 and 1) and 80000001h.
inline X86Features X86FeaturesOf(uint64_t saved, const CpuidRegisters& leaf_1, const CpuidRegisters& leaf_7,
                                 const CpuidRegisters& leaf_7_1, const CpuidRegisters& extended) {
  constexpr uint64_t kVectors = 0x06;     // of 256 bits
  constexpr uint64_t kVectors512 = 0xE6;  // and their masks
  const auto has = [](unsigned value, auto... bits) { return (((value >> bits & 1U) != 0) && ...); };
  X86Features features;
  features.avx2 = (saved & kVectors) == kVectors && has(leaf_1.c, 1U, 12U, 25U, 28U, 29U) &&
                  has(leaf_7.b, 3U, 5U, 8U) && has(extended.c, 5U);
  features.avx512 = features.avx2 && (saved & kVectors512) == kVectors512 && has(leaf_7.b, 16U, 17U, 28U, 30U, 31U);
  features.byte_products = features.avx512 && has(leaf_7.c, 11U);
  features.bf16_products = features.avx512 && has(leaf_7_1.a, 5U);
  return features;
}

inline X86Features ReadX86Features() {
  return X86FeaturesOf(SavedRegisters(), Cpuid(1, 0), Cpuid(7, 0), Cpuid(7, 1), Cpuid(0x80000001, 0));
}

}  // namespace lamina::cpu
#endif
