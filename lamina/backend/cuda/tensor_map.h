// What the hardware is told of a matrix of which it copies parts to shared memory (TMA, compute capability 9.0).
#pragma once

#include <cstddef>
#include <cstdint>

#include "lamina/backend/cuda/device.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

#if defined(LAMINA_CUDA_EMULATED)
inline constexpr size_t kMapAlignment = 16;  // no more than compilers for hosts pass on
#else
inline constexpr size_t kMapAlignment = 128;
#endif
/// CUtensorMap, of which kernels only have the address.
struct alignas(kMapAlignment) TensorMap {
  std::byte bytes[128];
};

/// A matrix of halves whose rows start at multiples of 16 bytes. One copy brings a part of it: rows of kPartRow_bytes,
/// swapped as Swizzled<128> does.
struct PartsOf2D {
  const void* data = nullptr;
  bool is_bfloat = false;
  int64_t rows = 0, cols = 0;
  int64_t stride = 0;  // elements
  int part_rows = 0;   // at most 256
};
inline constexpr int kPartRow_bytes = 128;

/// Makes it for one launch. A driver without such maps is kept as the device's error (Device::KeepError).
TensorMap MapOf(Device& device, const PartsOf2D& parts) noexcept;

#if defined(LAMINA_CUDA_EMULATED)
/// The part that begins at `row` and `col`.
emulator::Part FromMap(const TensorMap& map, int32_t row, int32_t col);
#endif

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
