// The products of a layer as the backend asks for them; the kernels are instantiated in the .cu files.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/backend/product_kernels.h"
#include "lamina/neuron/problem.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// What is contiguous in an operand's memory: a line's k (rows are lines), or a k's lines (rows are k).
enum class Contiguous { kSum, kLines };

template <class E>
struct Operand {
  const E* data = nullptr;
  int64_t stride = 0;    // elements from one row to the next
  bool aligned = false;  // it starts at a multiple of 16 bytes, and so do its rows
};
inline constexpr int64_t kRowAlignment = 16;  // bytes

template <class E>
Operand<E> OperandOf(const ConstMatrixView& view) {
  return {static_cast<const E*>(view.data), view.stride,
          reinterpret_cast<uintptr_t>(view.data) % kRowAlignment == 0 &&
              view.stride * static_cast<int64_t>(sizeof(E)) % kRowAlignment == 0};
}

template <class E, class S>
struct ProductArgs {
  Operand<E> a;
  Operand<E> b;
  Operand<E> own;
  int64_t rows = 0;   // m
  int64_t cols = 0;   // n
  int64_t depth = 0;  // k
  int64_t depth_per_split = 0;
  S* partial = nullptr;  // splits × rows × cols where the sum is split, and the epilogue is left to ReduceSplits
};

/// Terms of a sum at most: places in it are counted with 32 bits.
inline constexpr int64_t kMostDepth = int64_t{1} << 30;

template <class E, class S>
struct ProductLaunch {
  ProductArgs<E, S> args;
  ProductKernel kernel = ProductKernel::kLarge;
  Precision precision = Precision::kExact;
};

/// The results of one block of a kernel that has tiles.
struct TileSides {
  int64_t rows, cols;
};
TileSides SidesOf(ProductKernel kernel, DType dtype, bool needs_own);

/// A = x (rows are samples), B = weights. T is OutputType of E, S the type of the sums.
template <class E, class S, class T>
void LaunchForward(Device& device, Synapse synapse, const ProductLaunch<E, S>& launch,
                   const ForwardEpilogue<T, S>& epilogue);
/// A = scaled delta (rows are samples), B = weights (rows are outputs: the summed index), Own = x.
template <class T>
void LaunchInputGradient(Device& device, Synapse synapse, const ProductLaunch<T, T>& launch,
                         const SlopeEpilogue<T>& epilogue);
/// A = scaled delta and B = x (rows are samples: the summed index), Own = weights.
template <class T>
void LaunchWeightGradient(Device& device, Synapse synapse, const ProductLaunch<T, T>& launch,
                          const ParameterEpilogue<T>& epilogue);
/// The same of dot products on the tensor cores (IsTensor), terms rounded by launch.precision.
template <class E>
void LaunchTensorForward(Device& device, const ProductLaunch<E, float>& launch,
                         const ForwardEpilogue<float, float>& epilogue);
/// The squared norms of its operands' lines, rounded as its products round them: of `rows` of A, then of `cols` of B.
template <class E>
void LaunchNorms(Device& device, const ProductLaunch<E, float>& launch, float* norms);
void LaunchTensorInputGradient(Device& device, const ProductLaunch<float, float>& launch,
                               const SlopeEpilogue<float>& epilogue);
void LaunchTensorWeightGradient(Device& device, const ProductLaunch<float, float>& launch,
                                const ParameterEpilogue<float>& epilogue);
#if defined(LAMINA_HAVE_WGMMA)
/// Each of them by kernels of IsWgmma(), but for adding up the parts of a split sum.
template <Contiguous kA, Contiguous kB, class E, class Epilogue>
void LaunchWgmma(Device& device, const char* name, const ProductLaunch<E, float>& launch, const Epilogue& epilogue);
/// Its variants with a group of warps that fetches: of halves, forward; they have to stand as MayQueue() says.
template <class E>
void LaunchWgmmaQueue(Device& device, const char* name, const ProductLaunch<E, float>& launch,
                      const ForwardEpilogue<float, float>& epilogue);
/// Whether operands stand so that the hardware copies them.
template <class E>
bool MayQueue(const ProductArgs<E, float>& args) {
  constexpr int64_t kMost = int64_t{1} << 30;  // places are counted with 32 bits
  return args.a.aligned && args.b.aligned && args.depth > 0 && args.rows <= kMost && args.cols <= kMost;
}
#endif
/// The epilogue over a finished product of rows x cols, dense in `partial`, of `splits` parts; its row 0 is `first_row`
/// of the result.
template <class S, class Epilogue>
void LaunchEpilogue(Device& device, const S* partial, int64_t splits, int64_t first_row, int64_t rows, int64_t cols,
                    const Epilogue& epilogue);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
