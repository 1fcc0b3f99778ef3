// Products of a group of four warps on the tensor cores (wgmma, compute capability 9.0 only). The hardware reads both
// operands from shared memory while the threads do something else. Sums have 64 rows: warp w has the rows from 16 w on,
// its lanes as in mma.cuh. Number 4 j + i of a thread is sum i of the columns from 8 j on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/mma.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kWarpGroup = 4 * kWarp;
inline constexpr int kGroupRows = 64;
inline constexpr int kGroupDepth_bytes = 32;  // of k, of one product
inline constexpr int kPiece_bytes = 16;       // that stay together in shared memory

/// How an operand stands in shared memory: rows of kRow_bytes of k, from a multiple of kAtom_bytes on. Pieces are
/// swapped, so that eight rows' same piece lies in different banks.
template <int kRow_bytes>
struct Swizzled {
  static_assert(kRow_bytes == 64 || kRow_bytes == 128);
  static constexpr int kAtom_bytes = 8 * kRow_bytes;

  /// Where a piece of a row is, in bytes.
  LAMINA_HD static constexpr int Offset(int row, int piece) {
    const int plain = row * kRow_bytes + piece * kPiece_bytes;
    return plain ^ (plain >> 3 & (kRow_bytes - kPiece_bytes));
  }

  /// What wgmma is told of rows from `address` on; kGroupDepth_bytes later begins the next product's part of k.
  /// PTX ISA, "Matrix Descriptor Format".
  LAMINA_HD static constexpr uint64_t Descriptor(uint32_t address) {
    constexpr uint64_t kMode = kRow_bytes == 128 ? 1 : 2;
    constexpr uint64_t kUnused = 1;  // the leading offset, where rows of k are as long as the swizzle
    return uint64_t{(address & 0x3FFFFU) >> 4} | kUnused << 16 | uint64_t{kAtom_bytes >> 4} << 32 | kMode << 62;
  }
};

/// What this thread wrote to shared memory is seen by the products that start after the next barrier.
__device__ inline void PublishToProducts() {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::PublishToProducts();
#else
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
#endif
}

/// Before the first product that adds to sums which were read or written since the last wait.
template <int kSums>
__device__ __forceinline__ void BeginProducts(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) {  // by number: else they are not all unrolled, and leave the registers
    Opaque(sums[i]);
  }
#if defined(LAMINA_CUDA_EMULATED)
  emulator::BeginProducts();
#else
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#endif
}

/// After the last of some products that are to be waited for.
__device__ inline void CommitProducts() {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::CommitProducts();
#else
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
#endif
}

/// Waits until at most kPending commits of products of this thread's group are under way. What the others read may then
/// be overwritten; with kPending 0 their sums may be read.
template <int kPending = 0, int kSums>
__device__ __forceinline__ void WaitForProducts(float (&sums)[kSums]) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::WaitForProducts(kPending);
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kPending) : "memory");
#endif
  if constexpr (kPending > 0) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i) {  // by number: else they are not all unrolled, and leave the registers
    Opaque(sums[i]);
  }
}

#if defined(LAMINA_CUDA_EMULATED)

/// Number n of a row of the operand that a descriptor tells of, as the hardware finds it.
template <class Kind>
float NumberOfOperand(uint64_t descriptor, int row, int n) {
  const auto mode = static_cast<unsigned>(descriptor >> 62);
  const unsigned row_bytes = mode == 1 ? 128 : 64;
  const auto rest = static_cast<unsigned>(descriptor >> 46 & 0xFFFFU);  // base offset 0, nothing unknown
  if (mode == 0 || mode == 3 || rest != 0) {
    emulator::Fail("a descriptor of an operand that is none");
  }
  const auto start = static_cast<unsigned>(descriptor & 0x3FFFU) << 4;
  const auto eight_rows = static_cast<unsigned>(descriptor >> 32 & 0x3FFFU) << 4;
  constexpr unsigned kNumber_bytes = 4 / Kind::kPerRegister;
  const auto line = static_cast<unsigned>(row);
  const unsigned plain =
      start + line / 8 * eight_rows + line % 8 * row_bytes + static_cast<unsigned>(n) * kNumber_bytes;
  const unsigned address = plain ^ (plain >> 3 & (row_bytes - kPiece_bytes));
  const std::byte* const word = emulator::SeenByProducts(address / 4 * 4);
  uint32_t bits = 0;
  std::memcpy(&bits, word, sizeof(bits));
  return NumberOf<Kind>(bits, static_cast<int>(address % 4 / kNumber_bytes));
}

template <class Kind, int kCols>
void MultiplyAddGroup(float (&sums)[kCols / 2], uint64_t a, uint64_t b) {
  emulator::StartProduct([&sums, a, b] {
    constexpr int kDepth = kGroupDepth_bytes / 4 * Kind::kPerRegister;
    const int thread = static_cast<int>(threadIdx.x) % kWarpGroup;
    const int lane = thread % kWarp;
    float rows[2][kDepth];
    for (int half = 0; half < 2; ++half) {
      for (int k = 0; k < kDepth; ++k) {
        rows[half][k] = NumberOfOperand<Kind>(a, thread / kWarp * 16 + half * 8 + lane / 4, k);
      }
    }
    for (int col = 0; col < kCols / 4; ++col) {
      for (int k = 0; k < kDepth; ++k) {
        const float right = NumberOfOperand<Kind>(b, col / 2 * 8 + 2 * (lane % 4) + col % 2, k);
        sums[col / 2 * 4 + col % 2] += rows[0][k] * right;
        sums[col / 2 * 4 + col % 2 + 2] += rows[1][k] * right;
      }
    }
  });
}

#else

// The operands of an instruction that names up to 128 sums.
#define LAMINA_TEN_NAMES(tens)                                                                                      \
  "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens "6, %" #tens "7, %" #tens \
  "8, %" #tens "9, "
#define LAMINA_EIGHT_SUMS(sums, n)                                                                             \
  "+f"((sums)[n]), "+f"((sums)[(n) + 1]), "+f"((sums)[(n) + 2]), "+f"((sums)[(n) + 3]), "+f"((sums)[(n) + 4]), \
      "+f"((sums)[(n) + 5]), "+f"((sums)[(n) + 6]), "+f"((sums)[(n) + 7])
#define LAMINA_32_SUMS(sums, n)                                                                    \
  LAMINA_EIGHT_SUMS(sums, n), LAMINA_EIGHT_SUMS(sums, (n) + 8), LAMINA_EIGHT_SUMS(sums, (n) + 16), \
      LAMINA_EIGHT_SUMS(sums, (n) + 24)
#define LAMINA_64_NAMES \
  LAMINA_TEN_NAMES()    \
  LAMINA_TEN_NAMES(1)   \
  LAMINA_TEN_NAMES(2) LAMINA_TEN_NAMES(3) LAMINA_TEN_NAMES(4) LAMINA_TEN_NAMES(5) "%60, %61, %62, %63"
#define LAMINA_128_NAMES                                                                                         \
  LAMINA_64_NAMES ", %64, %65, %66, %67, %68, %69, " LAMINA_TEN_NAMES(7) LAMINA_TEN_NAMES(8) LAMINA_TEN_NAMES(9) \
      LAMINA_TEN_NAMES(10) LAMINA_TEN_NAMES(11) "%120, %121, %122, %123, %124, %125, %126, %127"
// `more`: what tells of halves whether k is not contiguous.
#define LAMINA_WGMMA_128(shape, more)                                                                              \
  asm volatile("wgmma.mma_async.sync.aligned.m64n128" shape " {" LAMINA_64_NAMES "}, %64, %65, 1, 1, 1" more ";\n" \
               : LAMINA_32_SUMS(sums, 0), LAMINA_32_SUMS(sums, 32)                                                 \
               : "l"(a), "l"(b))
#define LAMINA_WGMMA_256(shape, more)                                                                                  \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256" shape " {" LAMINA_128_NAMES "}, %128, %129, 1, 1, 1" more ";\n"  \
               : LAMINA_32_SUMS(sums, 0), LAMINA_32_SUMS(sums, 32), LAMINA_32_SUMS(sums, 64), LAMINA_32_SUMS(sums, 96) \
               : "l"(a), "l"(b))
#define LAMINA_WGMMA(shape, more)  \
  if constexpr (kCols == 128) {    \
    LAMINA_WGMMA_128(shape, more); \
  } else {                         \
    LAMINA_WGMMA_256(shape, more); \
  }

/// Starts sums += A B^T of 64 rows of A and kCols (128 or 256) of B, kGroupDepth_bytes of k. All threads of a group.
template <class Kind, int kCols>
__device__ __forceinline__ void MultiplyAddGroup(float (&sums)[kCols / 2], uint64_t a, uint64_t b) {
  static_assert(kCols == 128 || kCols == 256);
  if constexpr (std::is_same_v<Kind, Tf32>) {
    LAMINA_WGMMA("k8.f32.tf32.tf32", "")
  } else if constexpr (std::is_same_v<Kind, Halves<BFloat16> >) {
    LAMINA_WGMMA("k16.f32.bf16.bf16", ", 0, 0")
  } else {
    LAMINA_WGMMA("k16.f32.f16.f16", ", 0, 0")
  }
}

#undef LAMINA_TEN_NAMES
#undef LAMINA_EIGHT_SUMS
#undef LAMINA_32_SUMS
#undef LAMINA_64_NAMES
#undef LAMINA_128_NAMES
#undef LAMINA_WGMMA_128
#undef LAMINA_WGMMA_256
#undef LAMINA_WGMMA

#endif

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
