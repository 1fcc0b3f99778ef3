// Calls of the CUDA runtime that must succeed.
#pragma once

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <string_view>

#include "lamina/base/error.h"

namespace lamina::cuda {

/// Throws Error(kResource) where memory is lacking, else Error(kUnsupported), saying what failed and why.
inline void Require(cudaError_t error, std::string_view what) {
  if (error != cudaSuccess) {
    const ErrorCode code = error == cudaErrorMemoryAllocation ? ErrorCode::kResource : ErrorCode::kUnsupported;
    throw Error(code,
                fmt::format("CUDA: {} failed: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
  }
}

}  // namespace lamina::cuda
