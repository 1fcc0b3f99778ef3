// CUDA C++ as the kernels use it: the real language under nvcc, or the emulation of tests/cuda. There, a CUDA thread is
// a fiber on the host; all else is the same code.
#pragma once

#if defined(LAMINA_CUDA_EMULATED)
#include LAMINA_CUDA_EMULATED  // the header that stands for CUDA
#define LAMINA_CUDA_NAMESPACE cuda_emulated
#else
#include <cuda_runtime.h>
#define LAMINA_CUDA_NAMESPACE cuda
#endif

#include <cstdint>
#include <type_traits>

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kWarp = 32;

#if defined(__CUDACC__) || defined(LAMINA_CUDA_EMULATED)  // not where the host's code only names types

/// The dynamic shared memory of the block as an S.
template <class S>
__device__ inline S& SharedAs() {
#if defined(LAMINA_CUDA_EMULATED)
  return *static_cast<S*>(emulator::SharedMemory());
#else
  extern __shared__ __align__(16) unsigned char shared_memory[];
  return *reinterpret_cast<S*>(shared_memory);
#endif
}

/// The compiler may not know what `value`, a number of a register, is from here on.
template <class T>
__device__ inline void Opaque(T& value) {
#if defined(LAMINA_CUDA_EMULATED)
  asm volatile("" : "+m"(value));
#else
  if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+d"(value));
  } else if constexpr (static_cast<T>(0.5F) != T(0)) {
    asm volatile("" : "+f"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
}

/// `value` held to 0 to 1, a NaN as 0: part of the instruction that computes it.
__device__ inline float Saturate(float value) {
#if defined(LAMINA_CUDA_EMULATED)
  return value > 0 ? (value < 1 ? value : 1.0F) : 0.0F;
#else
  return __saturatef(value);
#endif
}

/// The address of shared memory, as instructions that do not take pointers have it.
__device__ inline uint32_t SharedAddress(const void* shared) {
#if defined(LAMINA_CUDA_EMULATED)
  return emulator::SharedAddress(shared);
#else
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
#endif
}

/// Whether `address` may be that of kCount numbers read or written at once; in the emulation alone it is asked.
template <int kCount, class T>
__device__ inline void RequireAligned([[maybe_unused]] const T* address) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::RequireAligned(address, kCount * sizeof(T));
#endif
}

/// kCount numbers to global memory aligned to all of them. Four of f32 in one store by name: the compiler takes a
/// structure apart again.
template <int kCount, class T>
__device__ inline void StoreGlobal(T* to, const T (&from)[kCount]) {
  RequireAligned<kCount>(to);
#if !defined(LAMINA_CUDA_EMULATED)
  if constexpr (kCount == 4 && std::is_same_v<T, float>) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"l"(__cvta_generic_to_global(to)), "f"(from[0]),
                 "f"(from[1]), "f"(from[2]), "f"(from[3])
                 : "memory");
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    to[i] = from[i];
  }
}

/// The same to shared memory, of two or four of f32.
template <int kCount, class T>
__device__ inline void StoreShared(T* to, const T (&from)[kCount]) {
  RequireAligned<kCount>(to);
#if !defined(LAMINA_CUDA_EMULATED)
  if constexpr (kCount == 4 && std::is_same_v<T, float>) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"r"(SharedAddress(to)), "f"(from[0]), "f"(from[1]),
                 "f"(from[2]), "f"(from[3])
                 : "memory");
    return;
  }
  if constexpr (kCount == 2 && std::is_same_v<T, float>) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};\n" ::"r"(SharedAddress(to)), "f"(from[0]), "f"(from[1]) : "memory");
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    to[i] = from[i];
  }
}

/// Starts copying kBytes (4, 8 or 16) to shared memory; the last kBytes - `valid_bytes` become zeros. Both are aligned
/// to kBytes.
template <int kBytes>
__device__ inline void CopyAsync(void* shared, const void* global, int valid_bytes) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::CopyAsync(shared, global, kBytes, valid_bytes);
#else
  const uint32_t to = SharedAddress(shared);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(global), "r"(valid_bytes) : "memory");
  } else {  // through the cache of the multiprocessor, as neighbors are in the same line
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(to), "l"(global), "n"(kBytes), "r"(valid_bytes)
                 : "memory");
  }
#endif
}

/// The same of 16 bytes that are all there.
__device__ inline void CopyAsync(void* shared, const void* global) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::CopyAsync(shared, global, 16, 16);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(SharedAddress(shared)), "l"(global) : "memory");
#endif
}

/// Ends a group of copies of this thread.
__device__ inline void CommitCopies() {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::CommitCopies();
#else
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}

/// Waits until at most the last kPending groups of this thread are under way.
template <int kPending>
__device__ inline void WaitForCopies() {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::WaitForCopies(kPending);
#else
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
#endif
}

/// Whoever sees a write of this thread from here on sees all before it: its own writes, and those of its block before a
/// barrier. Who read a count of others sees from here on what they wrote before that count.
__device__ inline void Fence() {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::Fence();
#else
  __threadfence();
#endif
}

/// Adds 1 and returns what was there, for all blocks of a launch; tells nobody anything.
__device__ inline unsigned AddOne(unsigned* counter) {
#if defined(LAMINA_CUDA_EMULATED)
  return emulator::AddOne(counter);
#else
  return atomicAdd(counter, 1U);
#endif
}

/// The same of a counter that others wait for, by a thread that has passed a barrier of its block and then a Fence():
/// PTX ISA, "Memory Consistency Model", release patterns.
__device__ inline unsigned CountUp(unsigned* counter) {
#if defined(LAMINA_CUDA_EMULATED)
  emulator::RequireFenced();
#endif
  return AddOne(counter);
}

/// Waits until another block has counted up to `least`; all blocks must be there at once (Device::LaunchTogether).
__device__ inline void WaitUntil(const unsigned* counter, unsigned least) {
#if defined(LAMINA_CUDA_EMULATED)
  while (*counter < least) {
    emulator::Pause();
  }
#else
  unsigned now = 0;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
  } while (now < least);
#endif
}

/// Lets what is there come to the L2 cache; nobody waits for it.
__device__ inline void AskFor([[maybe_unused]] const void* address) {
#if !defined(LAMINA_CUDA_EMULATED)
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(address));
#endif
}

/// Four numbers of f32 that another block may have written since this one last read them: past the cache of the
/// multiprocessor.
__device__ inline void LoadFresh(float (&to)[4], const float* from) {
  RequireAligned<4>(from);
#if defined(LAMINA_CUDA_EMULATED)
  for (int i = 0; i < 4; ++i) {
    to[i] = from[i];
  }
#else
  const float4 all = __ldcg(reinterpret_cast<const float4*>(from));
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
#endif
}

#endif

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
