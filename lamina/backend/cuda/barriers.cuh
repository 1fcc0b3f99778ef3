// Barriers in shared memory at which other threads arrive than wait (mbarrier). Clusters of blocks, which see each
// other's shared memory. Copies of parts of a matrix by the hardware (TMA). All are of compute capability 9.0.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/tensor_map.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// A barrier of shared memory. A phase ends when all have arrived, and all bytes that were announced. PTX ISA,
/// "Parallel Synchronization and Communication Instructions: mbarrier".
using SharedBarrier = uint64_t;

/// By one thread, before any other one uses it; AnnounceBarriers() and a barrier of the block or the cluster follow.
__device__ inline void InitBarrier(SharedBarrier* barrier, int arrivals) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::InitBarrier(barrier, arrivals);
#else
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(SharedAddress(barrier)), "r"(arrivals) : "memory");
#endif
}

__device__ inline void AnnounceBarriers() {
#if !defined(LAMINA_CUDA_EMULATED)
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
#endif
}

/// What this thread, and those that passed a barrier of its warp before it, did is done for whoever waits in the block.
/// Other blocks learn that its products have read what they read, and no more. To publish writes to them took a fifth
/// of a kernel's time. `rank`: of the block of the cluster whose barrier at this place it is.
__device__ inline void Arrive(SharedBarrier* barrier, unsigned rank) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::Arrive(barrier, rank);
#else
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}\n" ::"r"(SharedAddress(barrier)),
      "r"(rank)
      : "memory");
#endif
}

/// The same of the own block, with `size_bytes` that copies are going to bring.
__device__ inline void ArriveExpecting(SharedBarrier* barrier, int size_bytes) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::ArriveExpecting(barrier, size_bytes);
#else
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;\n" ::"r"(SharedAddress(barrier)),
               "r"(size_bytes)
               : "memory");
#endif
}

/// Waits until the phase of this parity has ended: 0 of the first, 1 of the second one, and so on. A new barrier has
/// ended the one before its first, of parity 1.
__device__ inline void WaitForPhase(SharedBarrier* barrier, unsigned parity) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::WaitForPhase(barrier, parity);
#else
  const uint32_t address = SharedAddress(barrier);
  uint32_t ended = 0;
  do {
    asm volatile(
        "{\n.reg .pred ended;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "selp.u32 %0, 1, 0, ended;\n}\n"
        : "=r"(ended)
        : "r"(address), "r"(parity)
        : "memory");
  } while (ended == 0);
#endif
}

/// The block's number in its cluster.
__device__ inline unsigned ClusterRank() {
#if defined(LAMINA_CUDA_EMULATED)
  return emulator::ClusterRank();
#else
  uint32_t rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
#endif
}

/// All threads of all blocks of the cluster.
__device__ inline void WaitForCluster() {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::WaitForCluster();
#else
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n" ::: "memory");
#endif
}

/// Starts copying the part of a matrix whose first row and column are `row` and `col`, of the size that the map tells.
/// It goes to `shared`, at a multiple of 1024 bytes, and its bytes arrive at `barrier`. What lies beyond the matrix
/// becomes 0. In the blocks of `ranks` (bit by bit) other than the own one both places are the same. PTX ISA,
/// "cp.async.bulk.tensor".
template <bool kToOthers>
__device__ inline void CopyPart(void* shared, const TensorMap& map, int32_t row, int32_t col, SharedBarrier* barrier,
                                uint16_t ranks) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::CopyPart(shared, FromMap(map, row, col), barrier, ranks);
#else
  const uint32_t to = SharedAddress(shared);
  const uint32_t bytes_arrive = SharedAddress(barrier);
  const auto of = reinterpret_cast<uint64_t>(&map);
  if constexpr (kToOthers) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(to),
        "l"(of), "r"(col), "r"(row), "r"(bytes_arrive), "h"(ranks)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];\n" ::"r"(to),
        "l"(of), "r"(col), "r"(row), "r"(bytes_arrive)
        : "memory");
  }
#endif
}

/// The threads of this group of four warps have kCount registers from now on, fewer or more than before: a multiple of
/// 8. Those that want more wait until others have given theirs. All threads of the group.
template <int kCount>
__device__ inline void GiveRegisters() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256);
#if defined(LAMINA_CUDA_EMULATED)
  emulator::GiveRegisters(kCount);
#else
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kCount));
#endif
}
template <int kCount>
__device__ inline void TakeRegisters() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256);
#if defined(LAMINA_CUDA_EMULATED)
  emulator::TakeRegisters(kCount);
#else
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kCount));
#endif
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
