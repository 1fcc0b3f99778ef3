// A layer prepared for one row at a time, for single answers.
#pragma once

#include <cstdint>
#include <tuple>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/row_kernels.h"
#include "lamina/base/buffer.h"
#include "lamina/neuron/weight_storage.h"

namespace lamina::cpu {

template <class T>
struct KernelTable;

/// A layer of f32 or f64 with weights and bias of its own, kept as single rows read them fastest. Immutable: any number
/// of threads may use it at once.
class RowLayer {
 public:
  /// `dtype`: of x, a and bias (outputs, or null). `weights`: outputs × inputs; exact (of `dtype`) for distances.
  RowLayer(const LayerSpec& layer, DType dtype, const StoredWeights& weights, const void* bias);

  /// For Forward(), 64-byte aligned.
  int64_t scratch_bytes() const { return scratch_.all; }
  /// a (outputs) = activation(synapse(x) + bias) of x (inputs), on the calling thread. Allocates nothing and takes no
  /// lock. Where many inputs are zero, their weights are not read. The sum lacks only terms of 0: an infinite weight
  /// times such a 0 does not make it NaN.
  void Forward(const void* x, void* a, void* scratch) const noexcept;

 private:
  // Bytes from the scratch's begin.
  struct ScratchLayout {
    int64_t x = 0;  // in f32, padded to whole groups
    int64_t sums = 0;
    int64_t bits = 0;    // of the inputs that are not zero
    int64_t groups = 0;  // those that are read
    int64_t kernel = 0;
    int64_t all = 0;
  };

  void KeepInPanels(const Matrix& numbers);
  void LayOutScratch();
  int64_t SelectGroups(const void* x, char* scratch) const noexcept;
  const void* ConvertedInput(const void* x, char* scratch) const noexcept;

  LayerSpec layer_;
  DType dtype_;
  bool narrow_sums_;  // in f32, of a layer of f64
  AlignedBuffer weights_;
  AlignedBuffer bias_;    // empty: none
  AlignedBuffer scales_;  // f32, a vector longer; empty: none
  // Asked for once: that takes longer than a small layer.
  const RowTable* table_ = nullptr;
  std::tuple<const KernelTable<float>*, const KernelTable<double>*> kernels_;
  const RowKernel* panels_ = nullptr;
  void (*neurons_)(const RowTask&) noexcept = nullptr;  // both null: exact, outputs × inputs
  ScratchLayout scratch_;
};

}  // namespace lamina::cpu
