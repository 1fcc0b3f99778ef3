// The driver makes the map. Its function is asked for by name, so that older drivers can open this file.
#include "lamina/backend/cuda/tensor_map.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

namespace lamina::cuda {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) >= alignof(CUtensorMap));

TensorMap MapOf(Device& device, const PartsOf2D& parts) noexcept {
  TensorMap map{};
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  constexpr unsigned kSince = 12000;  // CUDA 12.0
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kSince, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    device.KeepError("the NVIDIA driver has no maps of matrices (cuTensorMapEncodeTiled): driver 525 or newer");
    return map;
  }
  constexpr int kHalf_bytes = 2;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(parts.cols), static_cast<cuuint64_t>(parts.rows)};
  const cuuint64_t stride_bytes[] = {static_cast<cuuint64_t>(parts.stride * kHalf_bytes)};
  const cuuint32_t part[] = {kPartRow_bytes / kHalf_bytes, static_cast<cuuint32_t>(parts.part_rows)};
  const cuuint32_t steps[] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      reinterpret_cast<CUtensorMap*>(&map),
      parts.is_bfloat ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
      const_cast<void*>(parts.data), sizes, stride_bytes, part, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    device.KeepError(fmt::format("a map of {} x {} numbers, rows {} apart, failed: CUresult {}", parts.rows, parts.cols,
                                 parts.stride, static_cast<int>(result)));
  }
  return map;
}

}  // namespace lamina::cuda
