// Elements as stored and the numbers they are computed as, vector loads from shared memory, warp sums.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/language.h"
#include "lamina/base/half.h"
#include "lamina/neuron/formulas.h"

#if !defined(LAMINA_CUDA_EMULATED)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class S, class E>
__device__ inline S ToNumber(E value) {
#if defined(LAMINA_CUDA_EMULATED)
  if constexpr (std::is_same_v<E, Float16> || std::is_same_v<E, BFloat16>) {
    return static_cast<S>(static_cast<float>(value));
  }
#else
  if constexpr (std::is_same_v<E, Float16>) {
    return static_cast<S>(__half2float(__ushort_as_half(value.bits)));
  } else if constexpr (std::is_same_v<E, BFloat16>) {
    return static_cast<S>(__uint_as_float(static_cast<unsigned>(value.bits) << 16));
  }
#endif
  else {
    return static_cast<S>(value);
  }
}

/// kCount elements from an address aligned to all of them, in one load.
template <int kCount, class E>
__device__ inline void LoadShared(E (&to)[kCount], const E* shared) {
  struct alignas(kCount * sizeof(E)) Pack {
    E values[kCount];
  };
  RequireAligned<kCount>(shared);
  const Pack pack = *reinterpret_cast<const Pack*>(shared);
  for (int i = 0; i < kCount; ++i) {
    to[i] = pack.values[i];
  }
}

/// The sum over the lanes of a warp, in every lane; always in the same order.
template <class T>
__device__ inline T WarpSum(T value) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFU, value, mask);
  }
  return value;
}

template <class T>
__device__ inline T WarpMax(T value) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    value = formulas::Max(value, __shfl_xor_sync(0xFFFFFFFFU, value, mask));
  }
  return value;
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
