// The minibatch of a step of a small network, gathered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lamina/backend/training_steps.h"

namespace lamina::cpu {

/// Where the layers read a batch: one row of the data set as it is, or copies.
template <class T>
struct SmallBatch {
  int64_t rows;
  const T* x;
  ConstMatrixView targets;
  const T* sample_weights;
  bool copied;
};

/// Room for copies; x rows are padded.
template <class T>
struct SmallBatchRoom {
  int64_t x_stride = 0;
  int64_t outputs = 0;
  T* x = nullptr;
  T* targets = nullptr;
  T* sample_weights = nullptr;

  /// The batch of `rows` samples from `begin` on. `in_place`: a single row need not be padded.
  SmallBatch<T> At(const TrainingSteps& work, int64_t begin, int64_t rows, bool in_place) const {
    const auto* weights = static_cast<const T*>(work.sample_weights);
    if (rows == 1 && in_place) {
      const int64_t row = RowOf(work, begin);
      return {rows, work.x.Row<T>(row), work.targets.Rows(row, 1), weights == nullptr ? nullptr : weights + row, false};
    }
    return {rows, x, ViewOf<const T>(targets, rows, outputs), weights == nullptr ? nullptr : sample_weights, true};
  }

  /// Copies samples [first, last) of the batch that begins there, if they are to be, and asks for as many of those to
  /// come.
  void Gather(const TrainingSteps& work, int64_t begin, int64_t first, int64_t last, bool copied) const {
    constexpr int64_t kAhead = 12;  // rows of a large data set come from memory
    for (int64_t i = begin + kAhead + first; i < std::min(work.end, begin + kAhead + last); ++i) {
      __builtin_prefetch(work.x.Row<T>(RowOf(work, i)));
      __builtin_prefetch(work.targets.Row<T>(RowOf(work, i)));
    }
    const auto* weights = static_cast<const T*>(work.sample_weights);
    for (int64_t i = first; copied && i < last; ++i) {
      const int64_t row = RowOf(work, begin + i);
      std::memcpy(x + i * x_stride, work.x.Row<T>(row), static_cast<size_t>(work.x.cols) * sizeof(T));
      std::memcpy(targets + i * outputs, work.targets.Row<T>(row), static_cast<size_t>(outputs) * sizeof(T));
      if (weights != nullptr) {
        sample_weights[i] = weights[row];
      }
    }
  }

 private:
  static int64_t RowOf(const TrainingSteps& work, int64_t i) { return work.order == nullptr ? i : work.order[i]; }
};

}  // namespace lamina::cpu
