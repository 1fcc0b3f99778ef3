// The smaller operations of training: gathering rows, the loss, column sums, softmax, scaled deltas.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/numbers.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

__device__ inline int64_t GlobalThread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t GlobalThreads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

/// to[i] = from[rows[i]]; rows of `words` elements W. Recorded: from the live sample of `rows` on.
template <class W>
__global__ void GatherRowsKernel(const W* from, int64_t from_stride, const int64_t* rows, const LiveStep* live,
                                 int64_t count, int64_t words, W* to, int64_t to_stride) {
  const int64_t* chosen = live == nullptr ? rows : rows + live->first;
  for (int64_t n = GlobalThread(); n < count * words; n += GlobalThreads()) {
    const int64_t i = n / words;
    to[i * to_stride + n % words] = from[chosen[i] * from_stride + n % words];
  }
}

__global__ inline void AdvanceKernel(LiveStep* live, int64_t batch) {
  live->first += batch;
  ++live->rule.step;
  if (live->rates != nullptr) {
    live->rule.learning_rate = *++live->rates;
  }
  live->WorkOutNumbers();
}

/// out[i, j] = ScaleDelta(delta[i, j], distance[i, j]) of synapse S, rows densely.
template <class S, class T>
__global__ void ScaleDeltaKernel(Rows<const T> delta, Rows<const T> distance, int64_t rows, int64_t cols, T* out) {
  for (int64_t n = GlobalThread(); n < rows * cols; n += GlobalThreads()) {
    const int64_t i = n / cols;
    const int64_t j = n % cols;
    out[n] = S::ScaleDelta(delta.At(i, j), distance.data == nullptr ? T(0) : distance.At(i, j));
  }
}

/// Sums over the rows, a warp a column; then the epilogue's element(0, column, sum).
template <class T, class Epilogue>
__global__ void ColumnSumsKernel(Rows<const T> from, int64_t rows, int64_t cols, Epilogue epilogue) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t warps = GlobalThreads() / kWarp;
  epilogue.Visit([&](const auto& element) {
    for (int64_t col = GlobalThread() / kWarp; col < cols; col += warps) {
      T sum = T(0);
      for (int64_t row = lane; row < rows; row += kWarp) {
        sum += from.At(row, col);
      }
      sum = WarpSum(sum);
      if (lane == 0) {
        ForOne(element, 0, col, sum);
      }
    }
  });
}

/// Softmax of every row in place, a warp a row.
template <class T>
__global__ void SoftmaxKernel(Rows<T> a, int64_t rows, int64_t cols) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t warps = GlobalThreads() / kWarp;
  for (int64_t row = GlobalThread() / kWarp; row < rows; row += warps) {
    T largest = -std::numeric_limits<T>::infinity();
    for (int64_t col = lane; col < cols; col += kWarp) {
      largest = formulas::Max(a.At(row, col), largest);
    }
    largest = WarpMax(largest);
    T sum = T(0);
    for (int64_t col = lane; col < cols; col += kWarp) {
      const T power = formulas::Exp(a.At(row, col) - largest);
      a.At(row, col) = power;
      sum += power;
    }
    sum = WarpSum(sum);
    for (int64_t col = lane; col < cols; col += kWarp) {
      a.At(row, col) /= sum;
    }
  }
}

template <class T>
struct DeviceLoss {
  Rows<const T> a, z, targets;
  Rows<T> delta;
  const T* sample_weights = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  bool softmax = false;
  bool multiply_slope = false;  // the gradient is by a, not by z
  DeviceActivation activation;
  double class_threshold = 0.5;
  T keep = T(1);  // Loss::Smooth()
  T even = T(0);
  LossSums* sums = nullptr;

  __device__ T Target(int64_t row, int64_t col) const { return keep * targets.At(row, col) + even; }
};

/// Whether the largest output (one output: the side of the threshold) is the target's. All lanes of a warp.
template <class T>
__device__ inline bool IsCorrect(const DeviceLoss<T>& loss, int64_t row, int lane) {
  const auto threshold = static_cast<T>(loss.class_threshold);
  if (loss.cols == 1) {
    return (loss.a.At(row, 0) > threshold) == (loss.targets.At(row, 0) > threshold);
  }
  // As std::max_element: the first of the largest ones; a NaN is never larger.
  const auto first_largest = [&](const Rows<const T>& from) {
    int64_t best = lane < loss.cols ? lane : 0;
    for (int64_t col = best + kWarp; col < loss.cols; col += kWarp) {
      best = from.At(row, best) < from.At(row, col) ? col : best;
    }
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
      const int64_t other = __shfl_xor_sync(0xFFFFFFFFU, best, mask);
      const bool larger = from.At(row, best) < from.At(row, other);
      const bool same = !larger && !(from.At(row, other) < from.At(row, best));
      best = larger || (same && other < best) ? other : best;
    }
    return best;
  };
  return first_largest(loss.a) == first_largest(loss.targets);
}

template <class L, class T>
__device__ inline void RowDelta(const L& formula, const DeviceLoss<T>& loss, int64_t row, int lane, T scale) {
  T dot = T(0);
  for (int64_t col = lane; col < loss.cols; col += kWarp) {
    const T gradient = scale * formulas::LossGradient(formula, loss.a.At(row, col), loss.Target(row, col), col);
    loss.delta.At(row, col) = gradient;
    dot += gradient * loss.a.At(row, col);
  }
  if (!loss.multiply_slope) {
    return;
  }
  if (loss.softmax) {
    dot = WarpSum(dot);
    for (int64_t col = lane; col < loss.cols; col += kWarp) {
      loss.delta.At(row, col) = loss.a.At(row, col) * (loss.delta.At(row, col) - dot);
    }
    return;
  }
  VisitActivation(loss.activation, [&](const auto& formula) {
    for (int64_t col = lane; col < loss.cols; col += kWarp) {
      const T input = loss.z.data == nullptr ? T(0) : loss.z.At(row, col);
      loss.delta.At(row, col) *= formula.Slope(input, loss.a.At(row, col));
    }
  });
}

inline constexpr int kLossThreads = 512;
inline constexpr int kMostLossBlocks = 64;
static_assert(kMostLossBlocks * static_cast<int64_t>(sizeof(LossSums)) <= Device::kScratch_bytes);

/// The loss of a row that one lane reads, and its delta by the outputs; returns the sum of delta times output.
template <class L, class T>
__device__ inline T NarrowLoss(const L& formula, const DeviceLoss<T>& loss, int64_t row, T mean, LossSums& sums) {
  const int cols = static_cast<int>(loss.cols);
  const T weight = loss.sample_weights == nullptr ? T(1) : loss.sample_weights[row];
  double value = 0;
  int best = 0;
  int best_target = 0;
  T dot = T(0);
  for (int col = 0; col < cols; ++col) {
    const T a = loss.a.At(row, col);
    value += formulas::LossValue(formula, a, loss.Target(row, col), col);
    best = loss.a.At(row, best) < a ? col : best;
    best_target = loss.targets.At(row, best_target) < loss.targets.At(row, col) ? col : best_target;
    if (loss.delta.data != nullptr) {
      const T gradient = weight * mean * formulas::LossGradient(formula, a, loss.Target(row, col), col);
      loss.delta.At(row, col) = gradient;
      dot += gradient * a;
    }
  }
  const auto threshold = static_cast<T>(loss.class_threshold);
  const bool same_side = (loss.a.At(row, 0) > threshold) == (loss.targets.At(row, 0) > threshold);
  sums.loss += weight * value;
  sums.weight += weight;
  sums.correct += (cols == 1 ? same_side : best == best_target) ? 1 : 0;
  return dot;
}

/// The delta of NarrowLoss(), which gave `dot`, times the slope of the output activation where the loss is by outputs.
template <class T>
__device__ inline void NarrowSlope(const DeviceLoss<T>& loss, int64_t row, T dot) {
  const int cols = static_cast<int>(loss.cols);
  if (loss.delta.data == nullptr || !loss.multiply_slope) {
    return;
  }
  if (loss.softmax) {
    for (int col = 0; col < cols; ++col) {
      loss.delta.At(row, col) = loss.a.At(row, col) * (loss.delta.At(row, col) - dot);
    }
    return;
  }
  VisitActivation(loss.activation, [&](const auto& curve) {
    for (int col = 0; col < cols; ++col) {
      const T input = loss.z.data == nullptr ? T(0) : loss.z.At(row, col);
      loss.delta.At(row, col) *= curve.Slope(input, loss.a.At(row, col));
    }
  });
}

__device__ inline void AddLoss(const LossSums& part, LossSums& sums) {
  sums.loss += part.loss;
  sums.weight += part.weight;
  sums.correct += part.correct;
  sums.samples += part.samples;
}

/// Narrow outputs (up to a warp): a lane a row; else a warp a row. Sums in a fixed order: of the block to
/// parts[block], to be added by AddLossKernel, or to `loss.sums` without parts.
template <class L, class T>
__global__ void LossKernel(DeviceLoss<T> loss, L formula, LossSums* parts) {
  LossSums* warp_sums = &SharedAs<LossSums>();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const T mean = T(1) / static_cast<T>(loss.rows > 0 ? loss.rows : 1);
  LossSums own;
  if (loss.cols <= kWarp) {
    for (int64_t row = GlobalThread(); row < loss.rows; row += GlobalThreads()) {
      NarrowSlope(loss, row, NarrowLoss(formula, loss, row, mean, own));
    }
    own.loss = WarpSum(own.loss);
    own.weight = WarpSum(own.weight);
    own.correct = WarpSum(own.correct);
  } else {
    for (int64_t row = GlobalThread() / kWarp; row < loss.rows; row += GlobalThreads() / kWarp) {
      const T weight = loss.sample_weights == nullptr ? T(1) : loss.sample_weights[row];
      double value = 0;
      for (int64_t col = lane; col < loss.cols; col += kWarp) {
        value += formulas::LossValue(formula, loss.a.At(row, col), loss.Target(row, col), col);
      }
      own.loss += weight * WarpSum(value);
      own.weight += weight;
      own.correct += IsCorrect(loss, row, lane) ? 1 : 0;
      if (loss.delta.data != nullptr) {
        RowDelta(formula, loss, row, lane, weight * mean);
      }
    }
  }
  if (lane == 0) {
    warp_sums[warp] = own;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    LossSums sums;
    for (int i = 0; i < static_cast<int>(blockDim.x) / kWarp; ++i) {
      AddLoss(warp_sums[i], sums);
    }
    sums.samples = blockIdx.x == 0 ? loss.rows : 0;
    if (parts == nullptr) {
      AddLoss(sums, *loss.sums);
    } else {
      parts[blockIdx.x] = sums;
    }
  }
}

/// One thread: the parts of all blocks, in order.
__global__ inline void AddLossKernel(const LossSums* parts, int count, LossSums* sums) {
  for (int i = 0; i < count; ++i) {
    AddLoss(parts[i], *sums);
  }
}

/// parts[block] = the sum of squares of the block's share of the gradient, in a fixed order.
template <class T>
__global__ void SquaresKernel(const T* gradient, int64_t count, double* parts) {
  double* warp_sums = &SharedAs<double>();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  double sum = 0;
  for (int64_t n = GlobalThread(); n < count; n += GlobalThreads()) {
    sum += static_cast<double>(gradient[n]) * static_cast<double>(gradient[n]);
  }
  sum = WarpSum(sum);
  if (lane == 0) {
    warp_sums[warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    double all = 0;
    for (int i = 0; i < static_cast<int>(blockDim.x) / kWarp; ++i) {
      all += warp_sums[i];
    }
    parts[blockIdx.x] = all;
  }
}

/// gradient *= largest / norm, where that is below 1 and the norm finite. Every warp adds up the parts for itself.
template <class T>
__global__ void ClipKernel(T* gradient, int64_t count, const double* parts, int64_t part_count, double largest) {
  double squares = 0;
  for (int64_t part = static_cast<int64_t>(threadIdx.x) % kWarp; part < part_count; part += kWarp) {
    squares += parts[part];
  }
  const double norm = std::sqrt(WarpSum(squares));
  if (!(norm > largest && norm <= std::numeric_limits<double>::max())) {
    return;
  }
  const T scale = static_cast<T>(largest / norm);
  for (int64_t n = GlobalThread(); n < count; n += GlobalThreads()) {
    gradient[n] *= scale;
  }
}

/// Parameters by the gradients that are there; none below `smallest`.
template <class T>
__global__ void UpdateKernel(ParameterEpilogue<T> arrays, int64_t count, T smallest) {
  arrays.Visit([&](const auto& element) {
    for (int64_t n = GlobalThread(); n < count; n += GlobalThreads()) {
      ForOne(element, 0, n, arrays.gradient.data[n]);
      if (arrays.value.data[n] < smallest) {  // a NaN stays
        arrays.value.data[n] = smallest;
      }
    }
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
