// What stages need beside layers: a thread an element, a warp a column where columns are summed up.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "lamina/backend/cuda/whole_batch.cuh"
#include "lamina/backend/elementwise.h"
#include "lamina/base/random.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

// apply(row, col) for all elements.
template <class Apply>
__device__ void ForElements(int64_t rows, int64_t cols, const Apply& apply) {
  for (int64_t n = GlobalThread(); n < rows * cols; n += GlobalThreads()) {
    apply(n / cols, n % cols);
  }
}

// apply(col, lane) for all columns, a warp each.
template <class Apply>
__device__ void ForColumns(int64_t cols, const Apply& apply) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int64_t col = GlobalThread() / kWarp; col < cols; col += GlobalThreads() / kWarp) {
    apply(col, lane);
  }
}

template <class T>
__global__ void FillKernel(Rows<T> to, int64_t rows, int64_t cols, T value) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) { to.At(i, j) = value; });
}

template <class T>
__global__ void RepeatKernel(Rows<const T> from, int64_t from_rows, Rows<T> to, int64_t rows, int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) { to.At(i, j) = from.At(i % from_rows, j); });
}

template <class T>
__global__ void MultiplyKernel(Rows<const T> a, Rows<const T> b, Rows<T> to, int64_t rows, int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) { to.At(i, j) = a.At(i, j) * b.At(i, j); });
}

template <class T>
__global__ void AddKernel(Rows<const T> a, Rows<const T> b, Rows<T> to, int64_t rows, int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) { to.At(i, j) = a.At(i, j) + b.At(i, j); });
}

template <class T>
__global__ void MultiplySlopeKernel(DeviceActivation activation, Rows<const T> z, Rows<const T> a, Rows<T> delta,
                                    int64_t rows, int64_t cols) {
  VisitActivation(activation, [&](const auto& curve) {
    ForElements(rows, cols, [&](int64_t i, int64_t j) {
      delta.At(i, j) *= curve.Slope(z.data == nullptr ? T(0) : z.At(i, j), a.At(i, j));
    });
  });
}

template <class T>
__global__ void ScaleColumnsKernel(Rows<const T> from, const T* scale, Rows<T> to, int64_t rows, int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) { to.At(i, j) = from.At(i, j) * scale[j]; });
}

template <class T>
__global__ void ColumnProductsKernel(Rows<const T> a, Rows<const T> b, int64_t rows, int64_t cols, T* sums) {
  ForColumns(cols, [&](int64_t col, int lane) {
    T sum = T(0);
    for (int64_t row = lane; row < rows; row += kWarp) {
      sum += a.At(row, col) * b.At(row, col);
    }
    sum = WarpSum(sum);
    if (lane == 0) {
      sums[col] = sum;
    }
  });
}

template <class T>
__global__ void MeanOfBlocksKernel(Rows<const T> from, int64_t blocks, Rows<T> to, int64_t rows, int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) {
    T sum = T(0);
    for (int64_t block = 0; block < blocks; ++block) {
      sum += from.At(block * rows + i, j);
    }
    to.At(i, j) = sum / static_cast<T>(blocks);
  });
}

// A thread a column: every row needs the one behind it as it was.
template <class T>
__global__ void MixRowsKernel(Rows<T> mixed, int64_t rows, int64_t cols, T own, T rest) {
  for (int64_t j = GlobalThread(); j < cols; j += GlobalThreads()) {
    const T first = mixed.At(0, j);
    for (int64_t i = 0; i < rows; ++i) {
      const T next = i + 1 < rows ? mixed.At(i + 1, j) : first;
      mixed.At(i, j) = own * mixed.At(i, j) + rest * next;
    }
  }
}

template <class T>
__global__ void KeepZerosKernel(Rows<const T> parameters, Rows<T> gradient, int64_t rows, int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) {
    if (parameters.At(i, j) == T(0)) {
      gradient.At(i, j) = T(0);
    }
  });
}

using RandomState = std::array<uint64_t, 4>;

// A thread draws this many numbers, of two elements each. A linear map of the first state over the field of two
// elements gives the start of its part of the sequence. jumps[p][b] is what bit b becomes after 2^p parts.
inline constexpr int64_t kDraws = 64;
inline constexpr int kJumpPowers = 24;
inline constexpr int kStateBits = 256;
using Jump = std::array<RandomState, kStateBits>;

LAMINA_HD inline RandomState Jumped(const RandomState& state, const RandomState* jump) {
  RandomState to{};
  for (int word = 0; word < 4; ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      const uint64_t taken = 0 - ((state[static_cast<size_t>(word)] >> bit) & 1);
      const RandomState& column = jump[word * 64 + bit];
      for (size_t part = 0; part < 4; ++part) {
        to[part] ^= taken & column[part];
      }
    }
  }
  return to;
}

template <class T>
__global__ void DropoutMaskKernel(RandomState first, const RandomState* jumps, uint64_t below, T kept, T* mask,
                                  int64_t count) {
  constexpr int64_t kElements = 2 * kDraws;
  for (int64_t part = GlobalThread(); part * kElements < count; part += GlobalThreads()) {
    RandomState state = first;
    for (int power = 0; power < kJumpPowers; ++power) {
      if ((part >> power & 1) != 0) {
        state = Jumped(state, jumps + power * kStateBits);
      }
    }
    Random random(state);
    const int64_t end = count < (part + 1) * kElements ? count : (part + 1) * kElements;
    for (int64_t n = part * kElements; n < end; n += 2) {
      const uint64_t bits = random.Next();
      mask[n] = (bits & 0xFFFFFFFFU) < below ? T(0) : kept;
      if (n + 1 < end) {
        mask[n + 1] = (bits >> 32) < below ? T(0) : kept;
      }
    }
  }
}

/// u = distance / radius, a = activation(u).
template <class T>
__global__ void RadiusForwardKernel(Rows<const T> distance, const T* radii, DeviceActivation activation, Rows<T> u,
                                    Rows<T> a, int64_t rows, int64_t cols) {
  VisitActivation(activation, [&](const auto& formula) {
    for (int64_t n = GlobalThread(); n < rows * cols; n += GlobalThreads()) {
      const int64_t i = n / cols;
      const int64_t j = n % cols;
      const T value = distance.At(i, j) / radii[j];
      if (u.data != nullptr) {
        u.At(i, j) = value;
      }
      a.At(i, j) = formula.Value(value);
    }
  });
}

/// delta /= radius; gradient = -sum over the rows of delta u. A warp a column.
template <class T>
__global__ void RadiusBackwardKernel(Rows<const T> u, Rows<T> delta, int64_t rows, int64_t cols,
                                     ParameterEpilogue<T> radii, T smallest_radius) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t warps = GlobalThreads() / kWarp;
  radii.Visit([&](const auto& element) {
    for (int64_t col = GlobalThread() / kWarp; col < cols; col += warps) {
      const T radius = radii.value.data[col];
      T sum = T(0);
      for (int64_t row = lane; row < rows; row += kWarp) {
        const T scaled = delta.At(row, col) / radius;
        delta.At(row, col) = scaled;
        sum -= scaled * u.At(row, col);
      }
      sum = WarpSum(sum);  // no lane updates the radius before all have read it
      if (lane == 0) {
        ForOne(element, 0, col, sum);
        if (radii.update && radii.value.data[col] < smallest_radius) {  // a NaN stays
          radii.value.data[col] = smallest_radius;
        }
      }
    }
  });
}

template <class T>
struct DeviceNormalization {
  T* gamma = nullptr;
  T* beta = nullptr;
  T* mean = nullptr;
  T* variance = nullptr;
};

// The running statistics of a column follow those of a batch of `rows`, which are `mean` and `variance`.
template <class T>
__device__ void FollowBatch(const DeviceNormalization<T>& arrays, int64_t col, int64_t rows, double mean,
                            double variance, double share, bool keeps_answers) {
  const double unbiased = variance * static_cast<double>(rows) / static_cast<double>(rows - 1);
  const auto mean_before = static_cast<double>(arrays.mean[col]);
  const auto variance_before = static_cast<double>(arrays.variance[col]);
  arrays.mean[col] += static_cast<T>(share * (mean - mean_before));
  arrays.variance[col] += static_cast<T>(share * (unbiased - variance_before));
  if (keeps_answers) {
    const double factor = static_cast<double>(arrays.gamma[col]) / std::sqrt(variance_before + kVarianceEpsilon);
    arrays.beta[col] += static_cast<T>(factor * (static_cast<double>(arrays.mean[col]) - mean_before));
    arrays.gamma[col] =
        static_cast<T>(factor * std::sqrt(static_cast<double>(arrays.variance[col]) + kVarianceEpsilon));
  }
}

template <class T>
__global__ void NormalizeForwardKernel(Rows<T> z, DeviceNormalization<T> arrays, DeviceActivation activation,
                                       double share, bool keeps_answers, T* inverse, Rows<T> y, Rows<T> a, int64_t rows,
                                       int64_t cols) {
  VisitActivation(activation, [&](const auto& formula) {
    ForColumns(cols, [&](int64_t col, int lane) {
      auto mean = static_cast<double>(arrays.mean[col]);
      auto variance = static_cast<double>(arrays.variance[col]);
      if (rows > 1) {
        double sum = 0;
        for (int64_t row = lane; row < rows; row += kWarp) {
          sum += static_cast<double>(z.At(row, col));
        }
        mean = WarpSum(sum) / static_cast<double>(rows);
        double squares = 0;
        for (int64_t row = lane; row < rows; row += kWarp) {
          const double from_mean = static_cast<double>(z.At(row, col)) - mean;
          squares += from_mean * from_mean;
        }
        variance = WarpSum(squares) / static_cast<double>(rows);
      }
      const T scale = static_cast<T>(1 / std::sqrt(variance + kVarianceEpsilon));
      if (lane == 0) {
        inverse[col] = scale;
        if (rows > 1 && share > 0) {
          FollowBatch(arrays, col, rows, mean, variance, share, keeps_answers);
        }
      }
      __syncwarp();  // all lanes read what lane 0 made of γ and β
      const T centre = static_cast<T>(mean);
      for (int64_t row = lane; row < rows; row += kWarp) {
        const T normalized = (z.At(row, col) - centre) * scale;
        const T value = arrays.gamma[col] * normalized + arrays.beta[col];
        z.At(row, col) = normalized;
        if (y.data != nullptr) {
          y.At(row, col) = value;
        }
        a.At(row, col) = formula.Value(value);
      }
    });
  });
}

template <class T>
__global__ void NormalizeBackwardKernel(Rows<const T> z, const T* gamma, const T* inverse, Rows<T> delta,
                                        T* gamma_gradient, T* beta_gradient, int64_t rows, int64_t cols) {
  ForColumns(cols, [&](int64_t col, int lane) {
    double sum = 0;
    double product = 0;  // of delta and the normalized z
    for (int64_t row = lane; row < rows; row += kWarp) {
      const auto slope = static_cast<double>(delta.At(row, col));
      sum += slope;
      product += slope * static_cast<double>(z.At(row, col));
    }
    sum = WarpSum(sum);
    product = WarpSum(product);
    if (lane == 0) {
      gamma_gradient[col] = static_cast<T>(product);
      beta_gradient[col] = static_cast<T>(sum);
    }
    const double share = rows == 1 ? 0 : 1 / static_cast<double>(rows);  // running statistics do not depend on the row
    const T factor = gamma[col] * inverse[col];
    const T mean = static_cast<T>(share * sum);
    const T slope = static_cast<T>(share * product);
    for (int64_t row = lane; row < rows; row += kWarp) {
      delta.At(row, col) = factor * (delta.At(row, col) - mean - z.At(row, col) * slope);
    }
  });
}

template <class T>
__global__ void FoldNormalizationKernel(DeviceNormalization<T> arrays, Rows<T> weights, T* bias, int64_t rows,
                                        int64_t cols) {
  ForElements(rows, cols, [&](int64_t i, int64_t j) {
    const double factor =
        static_cast<double>(arrays.gamma[i]) / std::sqrt(static_cast<double>(arrays.variance[i]) + kVarianceEpsilon);
    weights.At(i, j) = static_cast<T>(factor * static_cast<double>(weights.At(i, j)));
    if (j == 0) {
      bias[i] = static_cast<T>(static_cast<double>(arrays.beta[i]) - factor * static_cast<double>(arrays.mean[i]));
    }
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
