// Dot products by cuBLASLt, which is loaded at run time where it is installed: 500 MB that lamina does not carry.
#pragma once

#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/device.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Whether the library was found; the reason otherwise.
Verdict LtAvailable();
/// "13.0.2", empty where it is not available.
std::string LtVersion();
/// Whether it is there and can do the problem: dot in f64, f32, bf16 and f16.
Verdict LtSupports(const Problem& problem);

/// Where a product goes, row-major in OutputType(), and what the library does to it on its way.
struct LtResult {
  void* data = nullptr;
  int64_t stride = 0;          // between rows, in numbers; 0: dense
  const void* bias = nullptr;  // a row that is added; null: none
  bool relu = false;           // max(0, .) behind it

  bool is_bare() const { return bias == nullptr && !relu; }
};

/// The product of one pass of a dot layer, planned once. f32 problems of Precision::kFast use TF32.
class LtProduct {
 public:
  /// `algorithm`: the position in the library's list of what it thinks fast. Throws Error.
  LtProduct(Device& device, const LayerPlanRequest& request, Pass pass, int algorithm);
  ~LtProduct();
  /// The product of the pass. Forward: a = x, b = weights; input gradient: delta, weights; weight gradient: delta, x.
  /// `a` may be a part of the samples, or of the delta's columns. The first call with new sizes or strides plans them,
  /// on the host. False, and nothing done, where the library cannot do what a result asks beside the product.
  bool Run(const ConstMatrixView& a, const ConstMatrixView& b, const LtResult& to) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
