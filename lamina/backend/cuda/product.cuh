// Kernels around the tile, and the launch of whichever a plan names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/blocks.cuh"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/slope.cuh"
#include "lamina/backend/cuda/tile.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class TileType, class E, class S, class Epilogue>
__global__ void __launch_bounds__(kBlockThreads, TileType::kResident)
    TileKernel(ProductArgs<E, S> args, Epilogue epilogue) {
  TileType tile(args, &SharedAs<E>());
  tile.Compute();
  tile.Store(epilogue);
}

/// Adds the parts of a split sum in order, then does what the product's epilogue would have done. Row 0 of the product
/// is `first_row` of the result.
template <class S, class Epilogue>
__global__ void ReduceSplitsKernel(const S* partial, int64_t splits, int64_t first_row, int64_t rows, int64_t cols,
                                   Epilogue epilogue) {
  constexpr int kFew = kTogether<S>;
  const int64_t row_threads = CeilOf(cols, kFew);
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const int64_t row_step = step / row_threads;  // divisions of 64 bits take longer than all the rest: once a thread
  const int64_t col_step = step % row_threads * kFew;
  struct Place {
    int64_t row, col;
    int count;
  };
  const auto add = [&](const Place& at, S(&sums)[kFew]) {
    Rows<const S> part{partial, cols, cols % kFew == 0};
    part.Load(at.row, at.col, at.count, sums);
    for (int64_t split = 1; split < splits; ++split) {
      part.data += rows * cols;
      S more[kFew];
      part.Load(at.row, at.col, at.count, more);
#pragma unroll
      for (int i = 0; i < kFew; ++i) {
        sums[i] += more[i];
      }
    }
  };
  epilogue.Visit([&](const auto& element) {
    const auto place = [&](int64_t row, int64_t col) {
      return Place{row, col, cols - col < kFew ? static_cast<int>(cols - col) : kFew};
    };
    const int64_t n = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    Place at = place(n / row_threads, n % row_threads * kFew);
    S next[kFew] = {};
    if (at.row < rows) {
      add(at, next);
    }
#pragma unroll 1
    while (at.row < rows) {
      S sums[kFew];
#pragma unroll
      for (int i = 0; i < kFew; ++i) {
        sums[i] = next[i];
      }
      const Place now = at;
      at.row += row_step;
      at.col += col_step;
      if (at.col >= cols) {
        at.col -= row_threads * kFew;
        ++at.row;
      }
      at = place(at.row, at.col);
      if (at.row < rows) {
        add(at, next);  // under way while this one goes out
      }
      element(first_row + now.row, now.col, now.count, sums);
    }
  });
}

/// Sums as one synapse term each.
template <class Term>
struct TermOp {
  static constexpr bool kNeedsOwn = false;
  static constexpr bool kPairs = false;
  template <class S>
  static constexpr bool kByTotal = false;
  template <class E>
  static constexpr bool kPacked = PackedTerm<Term, E>::kExists;
  template <class S>
  __device__ static S Add(S a, S b, S, S sum) {
    return Term::Accumulate(a, b, sum);
  }
  template <class E>
  __device__ static int32_t AddPacked(uint32_t a, uint32_t b, int32_t sum) {
    return PackedTerm<Term, E>::Add(a, b, sum);
  }
};

/// Sums of |a - b| of 16-bit types in pairs.
struct PairOp {
  static constexpr bool kNeedsOwn = false;
  static constexpr bool kPairs = true;
  template <class S>
  static constexpr bool kByTotal = false;
  template <class E>
  static constexpr bool kPacked = false;
};
using PairShape = TileShape<8, 4>;  // with 8 x 8 the sums of pairs would not fit into the registers

/// Sums of a scaled delta (A) times the term's slope at (Own, B).
template <class Term>
struct SlopeOp {
  static constexpr bool kNeedsOwn = Term::kIsDistance;
  static constexpr bool kPairs = false;
  template <class S>
  static constexpr bool kByTotal = Slope<Term, S>::kByTotal;
  template <class E>
  static constexpr bool kPacked = false;
  template <class S>
  __device__ static S Add(S scale, S other, S own, S sum) {
    return Slope<Term, S>::Accumulate(scale, own, other, sum);
  }
  /// For a tile that finishes its sums by the total of their scales.
  template <class S>
  __device__ static S AddSide(S scale, S other, S own, S sum) {
    return Slope<Term, S>::AccumulateSide(scale, own, other, sum);
  }
  template <class S>
  __device__ static S Finish(S sum, S total) {
    return Slope<Term, S>::Finish(sum, total);
  }
};

/// One thread a result, everything from global memory: the kernel of the 2017 paper, as a baseline.
template <class Op, Contiguous kA, Contiguous kB, class E, class S, class Epilogue>
__global__ void Paper2017Kernel(ProductArgs<E, S> args, Epilogue epilogue) {
  const int64_t tiles = (args.cols + kBlockSide - 1) / kBlockSide;
  const int64_t row = blockIdx.x / tiles * kBlockSide + threadIdx.x / kBlockSide;
  const int64_t col = blockIdx.x % tiles * kBlockSide + threadIdx.x % kBlockSide;
  if (row >= args.rows || col >= args.cols) {
    return;
  }
  const auto at = [](const Operand<E>& from, Contiguous contiguous, int64_t line, int64_t k) {
    return ToNumber<S>(from.data[contiguous == Contiguous::kSum ? line * from.stride + k : k * from.stride + line]);
  };
  const S own = Op::kNeedsOwn ? ToNumber<S>(args.own.data[row * args.own.stride + col]) : S(0);
  S sum = S(0);
  for (int64_t k = 0; k < args.depth; ++k) {
    sum = Op::Add(at(args.a, kA, row, k), at(args.b, kB, col, k), own, sum);
  }
  epilogue.Visit([&](const auto& element) { ForOne(element, row, col, sum); });
}

inline constexpr int kPaper2016Side = 32;

/// One thread a result, 32 x 32 tiles of both operands in shared memory: the product of the 2016 paper, as a baseline.
template <class Op, Contiguous kA, Contiguous kB, class E, class S, class Epilogue>
__global__ void __launch_bounds__(kPaper2016Side* kPaper2016Side)
    Paper2016Kernel(ProductArgs<E, S> args, Epilogue epilogue) {
  constexpr int kSide = kPaper2016Side;
  struct Tiles {
    S a[kSide][kSide];
    S b[kSide][kSide + 1];
  };
  Tiles& tiles = SharedAs<Tiles>();
  const int64_t tile_cols = (args.cols + kSide - 1) / kSide;
  const int y = static_cast<int>(threadIdx.x) / kSide;
  const int x = static_cast<int>(threadIdx.x) % kSide;
  const int64_t row = blockIdx.x / tile_cols * kSide + y;
  const int64_t first_col = blockIdx.x % tile_cols * kSide;
  const int64_t col = first_col + x;
  const auto at = [](const Operand<E>& from, Contiguous contiguous, int64_t line, int64_t lines, int64_t k,
                     int64_t depth) {
    return line < lines && k < depth
               ? ToNumber<S>(
                     from.data[contiguous == Contiguous::kSum ? line * from.stride + k : k * from.stride + line])
               : S(0);
  };
  const bool inside = row < args.rows && col < args.cols;
  const S own = Op::kNeedsOwn && inside ? ToNumber<S>(args.own.data[row * args.own.stride + col]) : S(0);
  S sum = S(0);
  for (int64_t k = 0; k < args.depth; k += kSide) {
    tiles.a[y][x] = at(args.a, kA, row, args.rows, k + x, args.depth);
    tiles.b[y][x] = at(args.b, kB, first_col + y, args.cols, k + x, args.depth);
    __syncthreads();
    const int count = args.depth - k < kSide ? static_cast<int>(args.depth - k) : kSide;
    for (int n = 0; n < count; ++n) {
      sum = Op::Add(tiles.a[y][n], tiles.b[x][n], own, sum);
    }
    __syncthreads();
  }
  if (inside) {
    epilogue.Visit([&](const auto& element) { ForOne(element, row, col, sum); });
  }
}

inline constexpr int64_t kBlocksPerMultiprocessor = 4;  // of the epilogue: what is resident; each loads its code anew

template <class S, class Epilogue>
void LaunchEpilogue(Device& device, const S* partial, int64_t splits, int64_t first_row, int64_t rows, int64_t cols,
                    const Epilogue& epilogue) {
  const int64_t blocks = std::min<int64_t>(CeilOf(rows * CeilOf(cols, kTogether<S>), kBlockThreads),
                                           kBlocksPerMultiprocessor * std::max(1, device.facts().multiprocessors));
  device.Launch("epilogue", &ReduceSplitsKernel<S, Epilogue>, dim3{static_cast<unsigned>(blocks), 1, 1}, kBlockThreads,
                0, partial, splits, first_row, rows, cols, epilogue);
}

/// The tiles of a product whose sums are of type S.
template <class S, bool kNeedsOwn>
using LargeShape = std::conditional_t<(sizeof(S) > 4), TileShape<4, 4>,
                                      std::conditional_t<kNeedsOwn, TileShape<8, 4>, TileShape<8, 8>>>;
using MediumShape = TileShape<8, 4>;
using SmallShape = TileShape<4, 4>;
/// Whether there is a tile between the two: of f32, whose layers are of all sizes.
template <class E, bool kNeedsOwn>
inline constexpr bool kHasMedium = std::is_same_v<E, float> && !kNeedsOwn;

/// What is left to do where the sum was split.
template <class E, class S, class Epilogue>
void AddParts(Device& device, const ProductArgs<E, S>& args, const Epilogue& epilogue) {
  if (args.partial != nullptr) {
    LaunchEpilogue(device, args.partial, PartsOf(args), 0, args.rows, args.cols, epilogue);
  }
}

/// `kernel` over all tiles of Shape and parts of the sum, and what adds those up.
template <class Shape, class Kernel, class E, class S, class Epilogue>
void LaunchTiles(Device& device, const char* name, const Kernel& kernel, int64_t shared_bytes,
                 const ProductArgs<E, S>& args, const Epilogue& epilogue) {
  LaunchBlocks<Shape>(device, name, kernel, shared_bytes, args, epilogue);
  AddParts(device, args, epilogue);
}

template <class Op, Contiguous kA, Contiguous kB, class Shape, class E, class S, class Epilogue>
void LaunchTile(Device& device, const char* name, const ProductArgs<E, S>& args, const Epilogue& epilogue) {
  using TileType = Tile<Op, E, S, Shape, kA, kB>;
  LaunchTiles<Shape>(device, name, &TileKernel<TileType, E, S, Epilogue>, TileType::kShared_bytes, args, epilogue);
}

template <class Op, Contiguous kA, Contiguous kB, class E, class S, class Epilogue>
void LaunchProduct(Device& device, const char* name, const ProductLaunch<E, S>& launch, const Epilogue& epilogue) {
  const ProductArgs<E, S>& args = launch.args;
  if (args.rows == 0 || args.cols == 0) {
    return;
  }
  const auto tiles = [&](int side) {
    return dim3{static_cast<unsigned>(((args.rows + side - 1) / side) * ((args.cols + side - 1) / side)), 1, 1};
  };
  if constexpr (std::is_same_v<E, float>) {
    if (launch.kernel == ProductKernel::kPaper2017) {
      device.Launch(name, &Paper2017Kernel<Op, kA, kB, E, S, Epilogue>, tiles(kBlockSide), kBlockThreads, 0, args,
                    epilogue);
      return;
    }
    if (launch.kernel == ProductKernel::kPaper2016) {
      constexpr int kSide = kPaper2016Side;
      device.Launch(name, &Paper2016Kernel<Op, kA, kB, E, S, Epilogue>, tiles(kSide), kSide * kSide,
                    static_cast<int64_t>(sizeof(S)) * kSide * (2 * kSide + 1), args, epilogue);
      return;
    }
  }
  if constexpr (kHasMedium<E, Op::kNeedsOwn>) {
    if (launch.kernel == ProductKernel::kMedium) {
      LaunchTile<Op, kA, kB, MediumShape>(device, name, args, epilogue);
      return;
    }
  }
  if (launch.kernel == ProductKernel::kLarge) {
    LaunchTile<Op, kA, kB, LargeShape<S, Op::kNeedsOwn>>(device, name, args, epilogue);
  } else {
    LaunchTile<Op, kA, kB, SmallShape>(device, name, args, epilogue);
  }
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
