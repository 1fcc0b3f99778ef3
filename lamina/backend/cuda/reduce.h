// Products whose results are reduced in the tile, as the backend asks for them; the kernels are in reduce.cuh.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/backend/cuda/product.h"
#include "lamina/neuron/problem.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Columns of a block's results in all products here, whatever their sizes: how sums are cut must not depend on them.
inline constexpr int64_t kReducedColumns = 64;

/// Lists of what is near, one a row of x.
template <class T>
struct DeviceLists {
  T* limits = nullptr;         // what is not nearer is of no use
  unsigned* counts = nullptr;  // entries
  T* sums = nullptr;           // rows × capacity
  int64_t* indices = nullptr;  // rows × capacity
  int64_t capacity = 0;        // a power of two, at most kMostListed
  bool largest = false;        // the largest sums are the nearest
};
inline constexpr int64_t kMostListed = 2048;

/// Rows a against rows b: what is nearer than the limit of its row of a is listed. The list holds the index of the row
/// of b, plus `first_index`. Lists must have room for all of b.
template <class T>
void LaunchNear(Device& device, Synapse synapse, const ProductArgs<T, T>& args, const DeviceLists<T>& lists,
                int64_t first_index);

/// Lists of more than k entries are cut back to the k nearest, of equally near ones those of lower indices; their
/// limits follow.
template <class T>
void LaunchCut(Device& device, const DeviceLists<T>& lists, int64_t rows, int64_t k);
/// The k nearest in order to `sums` and `indices` (rows × k); the index is `none` where a list has fewer.
template <class T>
void LaunchSorted(Device& device, const DeviceLists<T>& lists, int64_t rows, int64_t k, int64_t none, T* sums,
                  int64_t* indices);

/// sums[i], f64, = the exact terms of row i's activations (AsExactTerm), of a distance. `parts`: room for
/// CeilDivide(args.cols, kReducedColumns) × args.rows.
template <class T>
void LaunchActivationSums(Device& device, Synapse synapse, const ProductArgs<T, T>& args,
                          const DeviceActivation& activation, double* parts, double* sums);

/// What follows the products of two layers of which the first, of a distance, is not stored.
template <class T>
struct TwoLayerEpilogues {
  const T* hidden_bias = nullptr;
  DeviceActivation hidden_activation;
  Rows<const T> output_weights;  // outputs × hidden
  int64_t outputs = 0;
  T* parts = nullptr;  // CeilDivide(hidden, kReducedColumns) × rows × outputs
  ForwardEpilogue<T, T> output;
};
template <class T>
void LaunchTwoLayers(Device& device, Synapse synapse, const ProductArgs<T, T>& args,
                     const TwoLayerEpilogues<T>& epilogues);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
