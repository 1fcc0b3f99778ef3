// Matrix products of oneDNN (f32), the rival candidate of the cpu backend's own kernels. API 2.x and 3.x.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/activation.h"

namespace lamina::cpu {

/// A matrix as oneDNN is to see it: element (i, j) at data + i * row_stride + j * col_stride.
struct DnnMatrix {
  const void* data;
  int64_t rows, cols;
  int64_t row_stride, col_stride;
};

/// Products with their primitives kept: one per shape, made at its first use and held from then on.
class OnednnMatmul {
 public:
  OnednnMatmul();
  ~OnednnMatmul();

  /// to = activation(a b + bias); bias (to.cols elements) and activation may be null. False where oneDNN
  /// cannot: the caller computes it otherwise. See Fuses() for the activations taken. Uses the calling
  /// thread's OpenMP settings.
  bool Run(const DnnMatrix& a, const DnnMatrix& b, const void* bias, const Activation* activation,
           const MatrixView& to) noexcept;

  /// Whether oneDNN has this activation as a post-operation.
  static bool Fuses(const Activation& activation);
  /// No in a build without oneDNN.
  static bool Available();
  /// Holds oneDNN to an InstructionLevel, as far as it knows it (no less than SSE4.1). Without effect once oneDNN has
  /// computed something.
  static void KeepTo(std::string_view level);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lamina::cpu
