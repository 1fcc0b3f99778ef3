// The one tiled product behind all passes of a layer: result(m, n) = the sum over k of a term of A(m, k) and B(n, k).
// Gradients of distances have Own(m, n) in the term, too. Blocks of 16 x 16 threads compute a tile in registers, from
// slabs of 64 bytes of k, copied to shared memory asynchronously, three deep. Every sum runs over k in order, so the
// bits do not depend on the tile.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/backend/cuda/packed.cuh"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/slab.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kStages = 3;

/// Steps of a slab, of some k each, that are one straight piece of code. Four fill the pipelines; all 16 of a slab of
/// bytes would only take longer to compile.
inline constexpr int kStraightSteps = 4;

/// kThreadRows x kThreadCols results a thread.
template <int kThreadRows_, int kThreadCols_>
struct TileShape {
  static constexpr int kThreadRows = kThreadRows_;
  static constexpr int kThreadCols = kThreadCols_;
  static constexpr int kRows = kBlockSide * kThreadRows;
  static constexpr int kCols = kBlockSide * kThreadCols;
};

/// kPerThread lines of one thread by kStep values of k, as numbers to compute with.
template <class S, int kPerThread, int kStep>
struct Fragment {
  S values[kPerThread][kStep];

  template <class SlabType, class E>
  __device__ void Load(const E* shared, int t, int k) {
    if constexpr (SlabType::kRowsAreLines) {
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        E raw[kStep];
        LoadShared<kStep>(raw, SlabType::At(shared, SlabType::Line(t, i), k));
#pragma unroll
        for (int v = 0; v < kStep; ++v) {
          values[i][v] = ToNumber<S>(raw[v]);
        }
      }
    } else {
#pragma unroll
      for (int v = 0; v < kStep; ++v) {
#pragma unroll
        for (int i = 0; i < kPerThread; i += SlabType::kGroup) {
          E raw[SlabType::kGroup];
          LoadShared<SlabType::kGroup>(raw, SlabType::At(shared, SlabType::Line(t, i), k + v));
#pragma unroll
          for (int g = 0; g < SlabType::kGroup; ++g) {
            values[i + g][v] = ToNumber<S>(raw[g]);
          }
        }
      }
    }
  }
};

/// The tile of one block. Op has kNeedsOwn and Add(a, b, own, sum); kPacked<E>: AddPacked(a, b, sum) for words of
/// bytes; kPairs: words of halves go through PairSum; kByTotal<S>: AddSide() instead of Add(), and Finish(sum, total of
/// its row of A).
template <class Op, class E, class S, class Shape, Contiguous kA, Contiguous kB>
class Tile {
 public:
  using SlabA = Slab<E, kA, Shape::kThreadRows>;
  using SlabB = Slab<E, kB, Shape::kThreadCols>;
  static constexpr int kStageSize = SlabA::kSize + SlabB::kSize;
  static constexpr int kDepth = SlabA::kDepth;
  // Blocks of a multiprocessor at once, whose registers they share: one waits while the other computes.
  static constexpr int kResident = Shape::kThreadRows * Shape::kThreadCols <= 32 ? 2 : 1;
  // Results pass through shared memory on their way out, up to 64 rows at a time. Lines are written whole, and the code
  // of an epilogue is there once instead of once a register.
  static constexpr int kOutRegisters = Shape::kThreadRows < 4 ? Shape::kThreadRows : 4;
  static constexpr int kOutRows = kBlockSide * kOutRegisters;
  static constexpr int kOutStride = Shape::kCols + kBlockSide;
  static constexpr int64_t kPipeline_bytes = int64_t{kStages} * kStageSize * static_cast<int64_t>(sizeof(E));
  static constexpr int64_t kOut_bytes = int64_t{kOutRows} * kOutStride * static_cast<int64_t>(sizeof(S));
  static constexpr int64_t kShared_bytes = kPipeline_bytes > kOut_bytes ? kPipeline_bytes : kOut_bytes;

  __device__ Tile(const ProductArgs<E, S>& args, E* shared)
      : args_(args),
        shared_(shared),
        row_(static_cast<int>(threadIdx.x) / kBlockSide),
        col_(static_cast<int>(threadIdx.x) % kBlockSide) {
    const int64_t tile_cols = (args.cols + Shape::kCols - 1) / Shape::kCols;
    first_row_ = blockIdx.x / tile_cols * Shape::kRows;
    first_col_ = blockIdx.x % tile_cols * Shape::kCols;
  }

  __device__ void Compute() {
    LoadOwn();
    ForSlabs<SlabA, SlabB, kStages>(args_, first_row_, first_col_, shared_, [&](const E* a, int left) {
      AddTotal(a, left < kDepth ? left : kDepth);
      if constexpr (kWords) {
        AccumulateWords(a, left < kDepth ? left : kDepth);
      } else if (left >= kDepth) {
        Accumulate<true>(a, kDepth);
      } else {
        Accumulate<false>(a, left);
      }
    });
    FinishByTotals();
  }

  template <class Epilogue>
  __device__ void Store(const Epilogue& epilogue) {
    S* out = reinterpret_cast<S*>(shared_);
#pragma unroll
    for (int part = 0; part < Shape::kThreadRows / kOutRegisters; ++part) {
#pragma unroll
      for (int i = 0; i < kOutRegisters; ++i) {
        const int row = SlabA::Line(row_, part * kOutRegisters + i) - part * kOutRows;
#pragma unroll
        for (int j = 0; j < Shape::kThreadCols; ++j) {
          out[row * kOutStride + SlabB::Line(col_, j)] = sums_[part * kOutRegisters + i][j];
        }
      }
      __syncthreads();
      StoreStaged<Shape::kCols, kOutStride>(args_, out, first_row_ + part * kOutRows, first_col_, kOutRows, epilogue);
      __syncthreads();
    }
  }

 private:
  static constexpr bool kWords = Op::template kPacked<E> || Op::kPairs;
  static constexpr bool kByTotal = !kWords && Op::template kByTotal<S>;

  // A thread each adds up a whole line of A: one register, where the totals of its own rows would be eight.
  __device__ void AddTotal(const E* a, int count) {
    if constexpr (kByTotal) {
      if (const int line = static_cast<int>(threadIdx.x); line < Shape::kRows) {
        for (int k = 0; k < count; ++k) {
          total_ += ToNumber<S>(*SlabA::At(a, line, k));
        }
      }
    }
  }

  __device__ void FinishByTotals() {
    if constexpr (kByTotal) {
      S* totals = reinterpret_cast<S*>(shared_);
      if (static_cast<int>(threadIdx.x) < Shape::kRows) {
        totals[threadIdx.x] = total_;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        const S total = totals[SlabA::Line(row_, i)];
#pragma unroll
        for (int j = 0; j < Shape::kThreadCols; ++j) {
          sums_[i][j] = Op::Finish(sums_[i][j], total);
        }
      }
      __syncthreads();
    }
  }

  __device__ void LoadOwn() {
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < Shape::kThreadCols; ++j) {
        sums_[i][j] = S(0);
        if constexpr (Op::kNeedsOwn) {
          const int64_t row = first_row_ + SlabA::Line(row_, i);
          const int64_t col = first_col_ + SlabB::Line(col_, j);
          const bool inside = row < args_.rows && col < args_.cols;
          own_[i][j] = inside ? ToNumber<S>(args_.own.data[row * args_.own.stride + col]) : S(0);
        }
      }
    }
  }

  // The last, shorter slab stops where the sum does: terms of padding would not all be 0 (infinite weights).
  template <bool kWhole>
  __device__ void Accumulate(const E* a, int count) {
    constexpr int kStep = sizeof(E) > 4 ? 2 : 4;
    const E* b = a + SlabA::kSize;
    const int end = kWhole ? kDepth : count;
#pragma unroll(kWhole ? kStraightSteps : 1)
    for (int k = 0; k < end; k += kStep) {
      Fragment<S, Shape::kThreadRows, kStep> rows;
      Fragment<S, Shape::kThreadCols, kStep> cols;
      rows.template Load<SlabA>(a, row_, k);
      cols.template Load<SlabB>(b, col_, k);
#pragma unroll
      for (int v = 0; v < kStep; ++v) {
        if (kWhole || k + v < end) {
#pragma unroll
          for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kThreadCols; ++j) {
              if constexpr (kByTotal) {
                sums_[i][j] = Op::AddSide(rows.values[i][v], cols.values[j][v], OwnAt(i, j), sums_[i][j]);
              } else {
                sums_[i][j] = Op::Add(rows.values[i][v], cols.values[j][v], OwnAt(i, j), sums_[i][j]);
              }
            }
          }
        }
      }
    }
  }

  // Words that the sum ends within are filled with zeros, which add nothing.
  __device__ void AccumulateWords(const E* a, int count) {
    constexpr int kLoad = 4;  // words at once
    constexpr int kStep = kLoad * kWord_bytes / static_cast<int>(sizeof(E));
    const E* b = a + SlabA::kSize;
    uint32_t pairs[Op::kPairs ? Shape::kThreadRows : 1][Op::kPairs ? Shape::kThreadCols : 1] = {};
#pragma unroll 1
    for (int k = 0; k < count; k += kStep) {
      uint32_t rows[Shape::kThreadRows][kLoad];
      uint32_t cols[Shape::kThreadCols][kLoad];
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        LoadShared<kLoad>(rows[i], reinterpret_cast<const uint32_t*>(SlabA::At(a, SlabA::Line(row_, i), k)));
      }
#pragma unroll
      for (int j = 0; j < Shape::kThreadCols; ++j) {
        LoadShared<kLoad>(cols[j], reinterpret_cast<const uint32_t*>(SlabB::At(b, SlabB::Line(col_, j), k)));
      }
#pragma unroll
      for (int v = 0; v < kLoad; ++v) {
#pragma unroll
        for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
          for (int j = 0; j < Shape::kThreadCols; ++j) {
            if constexpr (Op::kPairs) {
              pairs[i][j] = PairSum<E>::Add(rows[i][v], cols[j][v], pairs[i][j]);
            } else {
              sums_[i][j] = Op::template AddPacked<E>(rows[i][v], cols[j][v], sums_[i][j]);
            }
          }
        }
      }
      if constexpr (Op::kPairs) {
        if ((k / kStep + 1) * kLoad % PairSum<E>::kWords == 0 || k + kStep >= count) {
          FinishPairs(pairs);
        }
      }
    }
  }

  __device__ void FinishPairs(uint32_t (&pairs)[Shape::kThreadRows][Shape::kThreadCols]) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < Shape::kThreadCols; ++j) {
        sums_[i][j] += PairSum<E>::Finish(pairs[i][j]);
        pairs[i][j] = 0;
      }
    }
  }

  __device__ S OwnAt(int i, int j) const {
    if constexpr (Op::kNeedsOwn) {
      return own_[i][j];
    } else {
      return S(0);
    }
  }

  const ProductArgs<E, S>& args_;
  E* shared_;
  int row_, col_;
  int64_t first_row_, first_col_;
  S sums_[Shape::kThreadRows][Shape::kThreadCols];
  S total_ = S(0);  // of line threadIdx.x of A
  S own_[Op::kNeedsOwn ? Shape::kThreadRows : 1][Op::kNeedsOwn ? Shape::kThreadCols : 1];
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
