// A layer prepared for one row at a time, or a few together, for single answers.
#pragma once

#include <cstdint>
#include <tuple>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/row_kernels.h"
#include "lamina/backend/cpu/row_storage.h"
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
  RowLayer(const RowLayer&);
  RowLayer(RowLayer&&) noexcept;
  RowLayer& operator=(const RowLayer&);
  RowLayer& operator=(RowLayer&&) noexcept;
  ~RowLayer();

  /// For Forward() with one row, 64-byte aligned; with several rows so much for each.
  int64_t scratch_bytes() const { return scratch_.all; }
  /// a (rows × outputs) = activation(synapse(x) + bias) of x (rows × inputs), of at most kMostRows rows, on the calling
  /// thread. A row has the same bits whatever stands beside it. Allocates nothing and takes no lock. Where many inputs
  /// or weights are zero, nothing is multiplied with them. The sum lacks only terms of 0: what is infinite or NaN,
  /// times such a 0, does not make it NaN.
  void Forward(const void* x, int64_t rows, void* a, void* scratch) const noexcept;

 private:
  // Bytes from the scratch's begin, for one row.
  struct ScratchLayout {
    int64_t x = 0;  // in f32, padded to whole groups
    int64_t sums = 0;
    int64_t bits = 0;    // of the inputs that are not zero, twice
    int64_t groups = 0;  // those that are read
    int64_t kernel = 0;
    int64_t all = 0;
  };

  bool listed() const { return !lists_.begin.empty(); }
  void LayOutScratch();
  bool sums_f64() const { return dtype_ == DType::kF64 && !narrow_sums_; }
  int64_t GroupCount() const;
  int64_t MarkGroups(const void* x, uint64_t* bits) const noexcept;
  RowGroups SelectGroups(const char* x, int64_t rows, uint64_t* bits, int32_t* list, int64_t& alone) const noexcept;
  bool SelectTiles(const RowTask& task, char* scratch, RowGroups* groups) const noexcept;
  void SumRows(RowTask& task, char* scratch) const noexcept;
  bool ConvertsInput() const;
  int64_t XStride() const;
  int64_t XRow_bytes() const;
  const void* ConvertedInput(const void* x, int64_t rows, char* scratch) const noexcept;

  LayerSpec layer_;
  DType dtype_;
  bool narrow_sums_;  // in f32, of a layer of f64
  // Whether rows are summed together. They read what any of them needs, and a zero of the others adds nothing but to an
  // infinite weight.
  bool in_tiles_ = false;
  AlignedBuffer weights_;
  ListedWeights lists_;   // in the place of weights_; empty: none
  AlignedBuffer bias_;    // empty: none
  AlignedBuffer scales_;  // f32, a vector longer; empty: none
  // Asked for once: that takes longer than a small layer.
  const RowTable* table_ = nullptr;
  std::tuple<const KernelTable<float>*, const KernelTable<double>*> kernels_;
  const RowKernel* panels_ = nullptr;
  void (*neurons_)(const RowTask&) noexcept = nullptr;  // both null: exact, outputs × inputs, or in lists
  ScratchLayout scratch_;
};

}  // namespace lamina::cpu
