// How each pass of a layer is computed on the GPU: which kernel, in how many parts.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/product.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

constexpr int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// What a pass is as a product.
struct Extent {
  int64_t rows, cols, depth;
};

Extent ExtentOf(const LayerSpec& layer, Pass pass, int64_t batch);

/// How one pass is computed.
struct Choice {
  ProductKernel kernel = ProductKernel::kSmall;
  bool library = false;    // cuBLASLt ...
  int algorithm = 0;       // ... and which of its algorithms
  int64_t panel_rows = 0;  // ... and how many rows of the result it computes at once
  int64_t depth_per_split = 0;

  int64_t Splits(int64_t depth) const { return library ? 1 : CeilDivide(depth, depth_per_split); }
};

/// Whether the products of a problem can be those of the tensor cores (IsTensor); the reason otherwise.
Verdict TensorSupports(const Problem& problem);
/// Whether kernels of IsWgmma() are in this build and for this GPU; the reason otherwise.
Verdict WgmmaAvailable(const Device& device);

/// By options.kernel, else by the plan, else by estimate. Dot products take cuBLASLt where it is there; else those that
/// may be rounded take the tensor cores. `any_slicing` as in LayerPlanRequest. Throws Error(kInvalidArgument |
/// kUnsupported).
Choice Choose(const Problem& problem, bool any_slicing, const Device& device, const BackendOptions& options);

/// Plans for a product of one pass, the estimate first.
std::vector<Plan> CudaCandidates(const Problem& problem, const Device& device);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
