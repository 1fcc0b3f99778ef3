// The dot products of a layer on the tensor cores; bias, activation, slope or update are applied where the sums leave
// them. Slabs are those of other products (slab.cuh), read as fragments of mma.sync. Each of eight warps, two above
// four, has a part of the tile. Sums are f32; terms are rounded as Kind says, and their products are exact.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/mma.cuh"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/slab.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kTensorStages = 4;
inline constexpr int kWarpRows = 2;  // warps of a block
inline constexpr int kWarpCols = 4;

/// body(kind) with what numbers of E are as operands of a product.
template <class E, class Body>
void VisitKind(Precision precision, const Body& body) {
  if constexpr (!std::is_same_v<E, float>) {
    body(Halves<E>{});
  } else if (precision == Precision::kBFloat16) {
    body(Halves<BFloat16>{});
  } else {
    body(Tf32{});
  }
}

/// Products of a warp, mma by mma: its part of the tile.
template <int kMmasDown_, int kMmasAcross_>
struct TensorShape {
  static constexpr int kMmasDown = kMmasDown_;
  static constexpr int kMmasAcross = kMmasAcross_;
  static constexpr int kRows = kWarpRows * kMmasDown * kMmaRows;
  static constexpr int kCols = kWarpCols * kMmasAcross * kMmaCols;
  static_assert(kMmasAcross % 2 == 0);  // fragments of two are loaded at once
};

/// The operands of Kind from slabs of E: as they are (halves), or f32 rounded on the way.
template <class Kind, class E, Contiguous kContiguous>
struct TensorOperand {
  static constexpr bool kRowsAreLines = kContiguous == Contiguous::kSum;
  static constexpr bool kRounds = std::is_same_v<E, float>;
  static constexpr bool kPacks = kRounds && !std::is_same_v<Kind, Tf32>;
  // Whole registers lie next to each other, eight rows of them: one instruction loads four.
  static constexpr bool kLoadsMatrices = kRowsAreLines && !kPacks;
  // A warp's loads so fall into different banks: 20 words a row for LoadMatrices, 24 for pairs of f32. Where rows are
  // k, two rows that a warp reads are 8 more than a multiple of 32 apart.
  static constexpr int kPad = kRounds && kRowsAreLines == kPacks ? 2 : 1;

  /// The registers of 16 lines, from `line` on, of the product at k. kPairs: as two operands B of 8 lines each, their
  /// registers side by side; else as an operand A.
  template <class SlabType, bool kPairs>
  __device__ static void Load(uint32_t (&to)[4], const E* shared, int line, int k) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const auto eight = [](int i) { return kPairs ? i / 2 : i % 2; };  // of register or matrix i: which lines ...
    const auto later = [](int i) { return kPairs ? i % 2 : i / 2; };  // ... and whether the columns from 4 on
    if constexpr (kLoadsMatrices) {
      LoadMatrices(
          to, SlabType::At(shared, line + 8 * eight(lane / 8) + lane % 8, k + later(lane / 8) * SlabType::kVector));
      if constexpr (kRounds) {
#pragma unroll
        for (uint32_t& each : to) {
          each = ToTf32(FloatOf(each));
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        to[i] = Register<SlabType>(shared, line + 8 * eight(i) + lane / 4, k, 4 * later(i) + lane % 4);
      }
    }
  }

 private:
  template <class SlabType>
  __device__ static uint32_t Register(const E* shared, int line, int k, int column) {
    static_assert(kRounds);
    if constexpr (!kPacks) {
      return ToTf32(*SlabType::At(shared, line, k + column));
    } else if constexpr (kRowsAreLines) {
      float pair[2];
      LoadShared<2>(pair, SlabType::At(shared, line, k + 2 * column));
      return ToBFloat16s(pair[0], pair[1]);
    } else {
      return ToBFloat16s(*SlabType::At(shared, line, k + 2 * column), *SlabType::At(shared, line, k + 2 * column + 1));
    }
  }
};

template <class Kind, class E, class Shape, Contiguous kA, Contiguous kB>
class TensorTile {
 public:
  using A = TensorOperand<Kind, E, kA>;
  using B = TensorOperand<Kind, E, kB>;
  using SlabA = Slab<E, kA, Shape::kRows / kBlockSide, A::kPad>;
  using SlabB = Slab<E, kB, Shape::kCols / kBlockSide, B::kPad>;
  static constexpr int kOutStride = Shape::kCols + 8;
  static constexpr int64_t kPipeline_bytes =
      int64_t{kTensorStages} * (SlabA::kSize + SlabB::kSize) * static_cast<int64_t>(sizeof(E));
  static constexpr int64_t kOut_bytes = int64_t{Shape::kRows} * kOutStride * static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kShared_bytes = kPipeline_bytes > kOut_bytes ? kPipeline_bytes : kOut_bytes;
  static_assert(kShared_bytes <= 99 * 1024);  // what a block can have on every GPU from compute capability 8.0 on
  static constexpr int kResident = 2;         // one block's results go out while the other one multiplies
  // Two steps at once of operands that both lie across their rows, gathered value by value, spill registers.
  static constexpr int kStepsTogether = A::kRowsAreLines || B::kRowsAreLines ? 2 : 1;

  __device__ TensorTile(const ProductArgs<E, float>& args, E* shared) : args_(args), shared_(shared) {
    const int64_t tile_cols = (args.cols + Shape::kCols - 1) / Shape::kCols;
    first_row_ = blockIdx.x / tile_cols * Shape::kRows;
    first_col_ = blockIdx.x % tile_cols * Shape::kCols;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    row_ = warp / kWarpCols * Shape::kMmasDown * kMmaRows;
    col_ = warp % kWarpCols * Shape::kMmasAcross * kMmaCols;
  }

  __device__ void Compute() {
#pragma unroll
    for (int i = 0; i < Shape::kMmasDown; ++i) {
#pragma unroll
      for (int j = 0; j < Shape::kMmasAcross; ++j) {
#pragma unroll
        for (float& each : sums_[i][j]) {
          each = 0;
        }
      }
    }
    // A slab that is not whole is filled with zeros, which add nothing.
    ForSlabs<SlabA, SlabB, kTensorStages>(args_, first_row_, first_col_, shared_, [&](const E* a, int) {
#pragma unroll kStepsTogether
      for (int k = 0; k < SlabA::kDepth; k += kMmaDepth<Kind>) {
        Accumulate(a, a + SlabA::kSize, k);
      }
    });
  }

  template <class Epilogue>
  __device__ void Store(const Epilogue& epilogue) {
    float* out = reinterpret_cast<float*>(shared_);
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
    for (int i = 0; i < Shape::kMmasDown; ++i) {
#pragma unroll
      for (int j = 0; j < Shape::kMmasAcross; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = row_ + i * kMmaRows + half * 8 + lane / 4;
          float* at = out + row * kOutStride + col_ + j * kMmaCols + 2 * (lane % 4);
          at[0] = sums_[i][j][2 * half];
          at[1] = sums_[i][j][2 * half + 1];
        }
      }
    }
    __syncthreads();
    StoreStaged<Shape::kCols, kOutStride>(args_, out, first_row_, first_col_, Shape::kRows, epilogue);
  }

 private:
  __device__ void Accumulate(const E* a, const E* b, int k) {
    uint32_t cols[Shape::kMmasAcross / 2][4];
#pragma unroll
    for (int j = 0; j < Shape::kMmasAcross / 2; ++j) {
      B::template Load<SlabB, true>(cols[j], b, col_ + 2 * j * kMmaCols, k);
    }
#pragma unroll
    for (int i = 0; i < Shape::kMmasDown; ++i) {
      uint32_t rows[4];
      A::template Load<SlabA, false>(rows, a, row_ + i * kMmaRows, k);
#pragma unroll
      for (int j = 0; j < Shape::kMmasAcross; ++j) {
        const uint32_t eight[2] = {cols[j / 2][j % 2 * 2], cols[j / 2][j % 2 * 2 + 1]};
        MultiplyAdd<Kind>(sums_[i][j], rows, eight);
      }
    }
  }

  const ProductArgs<E, float>& args_;
  E* shared_;
  int64_t first_row_, first_col_;
  int row_, col_;  // of the warp's part of the tile
  float sums_[Shape::kMmasDown][Shape::kMmasAcross][4];
};

template <class TileType, class E, class Epilogue>
__global__ void __launch_bounds__(kBlockThreads, TileType::kResident)
    TensorKernel(ProductArgs<E, float> args, Epilogue epilogue) {
  TileType tile(args, &SharedAs<E>());
  tile.Compute();
  tile.Store(epilogue);
}

using TensorLargeShape = TensorShape<4, 4>;
using TensorSmallShape = TensorShape<2, 2>;

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
