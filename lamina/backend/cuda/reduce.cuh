// Finishes of the tile that reduce its rows: lists of what is near, sums of activations, products with a second layer's
// weights. The matrix of all results is never stored.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/product.cuh"
#include "lamina/backend/cuda/reduce.h"
#include "lamina/backend/device_reductions.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class T>
using ReducingShape = std::conditional_t<(sizeof(T) > 4), SmallShape, MediumShape>;
static_assert(ReducingShape<float>::kCols == kReducedColumns && ReducingShape<double>::kCols == kReducedColumns);

/// Into the list of its row what is nearer than the limit.
template <class T>
struct NearEpilogue {
  DeviceLists<T> lists;
  int64_t first_index = 0;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    body([&]<int kCount>(int64_t row, int64_t col, int count, const T(&sums)[kCount]) {
      const T limit = lists.limits[row];
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i < count && (lists.largest ? sums[i] > limit : sums[i] < limit)) {
          const int64_t at = row * lists.capacity + AddOne(lists.counts + row);
          lists.sums[at] = sums[i];
          lists.indices[at] = first_index + col + i;
        }
      }
    });
  }
};

/// body(row, activations) for each row of staged results that is inside the product, a warp a row. A lane has the
/// activations of columns lane, lane + kWarp, ..., and 0 beyond the last one.
template <int kCols, int kStride, class E, class T, class Body>
__device__ inline void ForActivatedRows(const ProductArgs<E, T>& args, const T* out, int64_t first_row,
                                        int64_t first_col, int out_rows, Synapse synapse, const T* bias,
                                        const DeviceActivation& activation, const Body& body) {
  constexpr int kOfLane = kCols / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t left = args.rows - first_row;
  const int rows = left < out_rows ? static_cast<int>(left) : out_rows;
  VisitActivation(activation, [&](const auto& formula) {
#pragma unroll 1
    for (int row = static_cast<int>(threadIdx.x) / kWarp; row < rows; row += kBlockThreads / kWarp) {
      T activations[kOfLane];
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) {
        const int64_t col = first_col + lane + i * kWarp;
        activations[i] = T(0);
        if (col < args.cols) {
          const T finished = Finish(synapse, out[row * kStride + lane + i * kWarp]);
          activations[i] = formula.Value(bias == nullptr ? finished : finished + bias[col]);
        }
      }
      body(first_row + row, activations);
    }
  });
}

/// Sums of exact terms, one a row and tile.
template <class T>
struct ActivationSumEpilogue {
  Synapse synapse = Synapse::kL1;
  DeviceActivation activation;
  double* parts = nullptr;  // column tiles × rows

  template <int kCols, int kStride, class E>
  __device__ void Reduce(const ProductArgs<E, T>& args, const T* out, int64_t first_row, int64_t first_col,
                         int out_rows) const {
    ForActivatedRows<kCols, kStride>(args, out, first_row, first_col, out_rows, synapse, static_cast<const T*>(nullptr),
                                     activation, [&](int64_t row, const auto& activations) {
                                       double sum = 0;
                                       for (const T each : activations) {
                                         sum += AsExactTerm(static_cast<double>(each));
                                       }
                                       sum = WarpSum(sum);
                                       if (threadIdx.x % kWarp == 0) {
                                         parts[first_col / kCols * args.rows + row] = sum;
                                       }
                                     });
  }
};

/// The activations of a tile times the output weights of its neurons, one number a row, tile and output.
template <class T>
struct WeightedSumEpilogue {
  Synapse synapse = Synapse::kL1;
  TwoLayerEpilogues<T> layers;

  template <int kCols, int kStride, class E>
  __device__ void Reduce(const ProductArgs<E, T>& args, const T* out, int64_t first_row, int64_t first_col,
                         int out_rows) const {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    ForActivatedRows<kCols, kStride>(
        args, out, first_row, first_col, out_rows, synapse, layers.hidden_bias, layers.hidden_activation,
        [&](int64_t row, const auto& activations) {
          T* const to = layers.parts + (first_col / kCols * args.rows + row) * layers.outputs;
#pragma unroll 1
          for (int64_t output = 0; output < layers.outputs; ++output) {
            T sum = T(0);
#pragma unroll
            for (int i = 0; i < kCols / kWarp; ++i) {
              const int64_t col = first_col + lane + i * kWarp;
              sum += col < args.cols ? activations[i] * layers.output_weights.At(output, col) : T(0);
            }
            sum = WarpSum(sum);
            if (lane == 0) {
              to[output] = sum;
            }
          }
        });
  }
};

/// What ReduceSplitsKernel adds up, as it is.
struct StoreSum {
  double* out = nullptr;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    body([&](int64_t row, int64_t, int, const double(&sums)[1]) { out[row] = sums[0]; });
  }
};

template <class T>
struct ListInBlock {
  T sums[kMostListed];
  int64_t indices[kMostListed];

  __device__ bool IsBefore(int a, int b, bool largest) const {
    return (largest ? sums[a] > sums[b] : sums[a] < sums[b]) || (sums[a] == sums[b] && indices[a] < indices[b]);
  }

  /// Batcher's bitonic sort of `count` entries, a power of two, by all threads of the block.
  __device__ void Sort(int count, bool largest) {
    for (int sorted = 2; sorted <= count; sorted *= 2) {
      for (int apart = sorted / 2; apart > 0; apart /= 2) {
        __syncthreads();
        for (int pair = static_cast<int>(threadIdx.x); pair < count / 2; pair += kBlockThreads) {
          const int a = pair / apart * 2 * apart + pair % apart;
          const int b = a + apart;
          const bool ascends = (a & sorted) == 0;
          if (ascends ? IsBefore(b, a, largest) : IsBefore(a, b, largest)) {
            Exchange(sums[a], sums[b]);
            Exchange(indices[a], indices[b]);
          }
        }
      }
    }
    __syncthreads();
  }

 private:
  template <class N>
  __device__ static void Exchange(N& a, N& b) {
    const N kept = a;
    a = b;
    b = kept;
  }
};

/// A block a row. Without `out`: cuts the list to k entries; else writes the k nearest.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SortListsKernel(DeviceLists<T> lists, int64_t k, T farthest, int64_t none, T* out, int64_t* out_indices) {
  auto& list = SharedAs<ListInBlock<T>>();
  const int64_t row = blockIdx.x;
  const auto count = static_cast<int>(lists.counts[row]);
  if (out == nullptr && count <= k) {
    return;
  }
  int padded = 1;
  while (padded < count) {
    padded *= 2;
  }
  for (int i = static_cast<int>(threadIdx.x); i < padded; i += kBlockThreads) {
    const bool inside = i < count;
    list.sums[i] = inside ? lists.sums[row * lists.capacity + i] : farthest;
    list.indices[i] = inside ? lists.indices[row * lists.capacity + i] : INT64_MAX;
  }
  list.Sort(padded, lists.largest);
  for (int i = static_cast<int>(threadIdx.x); i < k; i += kBlockThreads) {
    if (out != nullptr) {
      out[row * k + i] = i < count ? list.sums[i] : farthest;
      out_indices[row * k + i] = i < count ? list.indices[i] : none;
    } else {
      lists.sums[row * lists.capacity + i] = list.sums[i];
      lists.indices[row * lists.capacity + i] = list.indices[i];
    }
  }
  if (out == nullptr && threadIdx.x == 0) {
    lists.counts[row] = static_cast<unsigned>(k);
    lists.limits[row] = list.sums[k - 1];
  }
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
