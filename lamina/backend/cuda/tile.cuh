// The one tiled product behind all passes of a layer: result (m, n) = sum over k of a term of A(m, k), B(n, k) and, for
// gradients of distances, Own(m, n). Blocks of 16 x 16 threads compute a tile of the result in registers, from slabs of
// 64 bytes of k that are copied to shared memory asynchronously, three slabs deep. Every sum runs over k in order, so
// the bits do not depend on the tile.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/backend/cuda/packed.cuh"
#include "lamina/backend/cuda/product.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kBlockSide = 16;
inline constexpr int kBlockThreads = kBlockSide * kBlockSide;
inline constexpr int kStages = 3;
inline constexpr int kSlab_bytes = 64;
inline constexpr int kVector_bytes = 16;

/// kThreadRows x kThreadCols results a thread.
template <int kThreadRows_, int kThreadCols_>
struct TileShape {
  static constexpr int kThreadRows = kThreadRows_;
  static constexpr int kThreadCols = kThreadCols_;
  static constexpr int kRows = kBlockSide * kThreadRows;
  static constexpr int kCols = kBlockSide * kThreadCols;
};

/// kLines lines of an operand over one slab, in shared memory. Rows are padded by one vector: consecutive lines then
/// fall into different banks.
template <class E, Contiguous kContiguous, int kPerThread>
struct Slab {
  static constexpr int kLines = kBlockSide * kPerThread;
  static constexpr int kVector = kVector_bytes / static_cast<int>(sizeof(E));
  static constexpr int kDepth = kSlab_bytes / static_cast<int>(sizeof(E));
  static constexpr bool kRowsAreLines = kContiguous == Contiguous::kSum;
  static constexpr int kRowCount = kRowsAreLines ? kLines : kDepth;
  static constexpr int kRowLength = kRowsAreLines ? kDepth : kLines;
  static constexpr int kStride = kRowLength + kVector;
  static constexpr int kSize = kRowCount * kStride;
  // Lines of one thread are 16 apart where rows are lines, else in groups of a vector.
  static constexpr int kGroup = kRowsAreLines ? 1 : (kVector < kPerThread ? kVector : kPerThread);

  /// The i-th line of thread t of 16.
  __device__ static constexpr int Line(int t, int i) {
    return i / kGroup * (kBlockSide * kGroup) + t * kGroup + i % kGroup;
  }

  __device__ static const E* At(const E* shared, int line, int k) {
    return shared + (kRowsAreLines ? line * kStride + k : k * kStride + line);
  }

  /// Lines [first_line, line_end) and k of [first_k, k_end), element by element, of an operand that is not aligned;
  /// what lies beyond becomes 0.
  __device__ static void CopyElements(E* shared, const Operand<E>& from, int64_t first_line, int64_t line_end,
                                      int64_t first_k, int64_t k_end) {
    const int64_t first_row = kRowsAreLines ? first_line : first_k;
    const int64_t row_end = kRowsAreLines ? line_end : k_end;
    const int64_t first_col = kRowsAreLines ? first_k : first_line;
    const int64_t col_end = kRowsAreLines ? k_end : line_end;
    const E* corner = from.data + first_row * from.stride + first_col;
    const int64_t rows = row_end - first_row;
    const int64_t cols = col_end - first_col;
#pragma unroll 1
    for (int n = static_cast<int>(threadIdx.x); n < kRowCount * kRowLength; n += kBlockThreads) {
      const int row = n / kRowLength;
      const int col = n % kRowLength;
      shared[row * kStride + col] = row < rows && col < cols ? corner[row * from.stride + col] : E{};
    }
  }
};

/// One thread's share of the copies of an aligned operand, slab by slab: addresses and limits are worked out once.
template <class SlabType, class E>
class Loader {
 public:
  /// Lines [first_line, line_end), k from first_k on.
  __device__ Loader(const Operand<E>& from, int64_t first_line, int64_t line_end, int64_t first_k)
      : somewhere_(from.data),
        row_(static_cast<int>(threadIdx.x) / kPerRow),
        col_(static_cast<int>(threadIdx.x) % kPerRow * SlabType::kVector),
        row_step_(kRowStep * from.stride) {
    const int64_t left = line_end - first_line;
    const int lines = left < SlabType::kLines ? static_cast<int>(left) : SlabType::kLines;
    if constexpr (SlabType::kRowsAreLines) {
      at_ = from.data + (first_line + row_) * from.stride + first_k + col_;
      slab_step_ = SlabType::kDepth;
      limit_ = lines;
    } else {
      at_ = from.data + (first_k + row_) * from.stride + first_line + col_;
      slab_step_ = SlabType::kDepth * from.stride;
      limit_ = Valid(lines - col_);
    }
  }

  /// Starts copying the next slab; what lies beyond the lines and the `k_left` first k becomes 0.
  __device__ void Copy(E* shared, int k_left) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const int row = row_ + i * kRowStep;
      int count = 0;
      if constexpr (SlabType::kRowsAreLines) {
        count = row < limit_ ? Valid(k_left - col_) : 0;
      } else {
        count = row < k_left ? limit_ : 0;
      }
      CopyAsync16(shared + row * SlabType::kStride + col_, count > 0 ? at_ + i * row_step_ : somewhere_,
                  count * static_cast<int>(sizeof(E)));
    }
    at_ += slab_step_;
  }

 private:
  static constexpr int kPerRow = SlabType::kRowLength / SlabType::kVector;
  static constexpr int kRowStep = kBlockThreads / kPerRow;
  static constexpr int kCopies = SlabType::kRowCount / kRowStep;
  static_assert(kBlockThreads % kPerRow == 0 && SlabType::kRowCount % kRowStep == 0);

  // Elements of a vector of which `left` are there.
  __device__ static int Valid(int left) { return left >= SlabType::kVector ? SlabType::kVector : left > 0 ? left : 0; }

  const E* at_;
  const E* somewhere_;  // a valid address, of which nothing is read
  int row_, col_;       // in shared memory, of the first copy
  int limit_;           // lines; elements of the vector where rows are k
  int64_t row_step_, slab_step_;
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
/// bytes; kPairs: words of halves go through PairSum.
template <class Op, class E, class S, class Shape, Contiguous kA, Contiguous kB>
class Tile {
 public:
  using SlabA = Slab<E, kA, Shape::kThreadRows>;
  using SlabB = Slab<E, kB, Shape::kThreadCols>;
  static constexpr int kStageSize = SlabA::kSize + SlabB::kSize;
  static constexpr int kDepth = SlabA::kDepth;
  // Blocks of a multiprocessor at once, whose registers they share: one waits while the other computes.
  static constexpr int kResident = Shape::kThreadRows * Shape::kThreadCols <= 32 ? 2 : 1;
  // Results pass through shared memory on their way out, up to 64 rows at a time: written in whole lines, and the code
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
    k_begin_ = blockIdx.y * args.depth_per_split;
    k_end_ = k_begin_ + args.depth_per_split < args.depth ? k_begin_ + args.depth_per_split : args.depth;
  }

  __device__ void Compute() {
    LoadOwn();
    Loader<SlabA, E> load_a(args_.a, first_row_, args_.rows, k_begin_);
    Loader<SlabB, E> load_b(args_.b, first_col_, args_.cols, k_begin_);
    int left = static_cast<int>(k_end_ - k_begin_);  // of the sum; one split has at most kMostDepth
    int to_copy = left;
    int to = 0;  // the stage that is copied to, and that which is read
    int from = 0;
    const auto stage = [&] {
      if (to_copy > 0) {
        E* a = shared_ + to;
        if (args_.aligned) {
          load_a.Copy(a, to_copy);
          load_b.Copy(a + SlabA::kSize, to_copy);
        } else {
          SlabA::CopyElements(a, args_.a, first_row_, args_.rows, k_end_ - to_copy, k_end_);
          SlabB::CopyElements(a + SlabA::kSize, args_.b, first_col_, args_.cols, k_end_ - to_copy, k_end_);
        }
        to_copy -= kDepth;
        to = Next(to);
      }
      CommitCopies();  // also where nothing is left to copy: WaitForCopies counts groups
    };
    for (int i = 0; i < kStages - 1; ++i) {
      stage();
    }
#pragma unroll 1
    for (; left > 0; left -= kDepth) {
      WaitForCopies<kStages - 2>();
      __syncthreads();
      stage();
      const E* a = shared_ + from;
      from = Next(from);
      if constexpr (Op::template kPacked<E> || Op::kPairs) {
        AccumulateWords(a, left < kDepth ? left : kDepth);
      } else if (left >= kDepth) {
        Accumulate<true>(a, kDepth);
      } else {
        Accumulate<false>(a, left);
      }
    }
    WaitForCopies<0>();
    __syncthreads();
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
      if (args_.partial != nullptr) {
        ForStaged(out, part, [&](int64_t row, int64_t col, S sum) {
          args_.partial[(blockIdx.y * args_.rows + row) * args_.cols + col] = sum;
        });
      } else {
        epilogue.Visit([&](const auto& element) { ForStaged(out, part, element); });
      }
      __syncthreads();
    }
  }

 private:
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

  // The stage behind `stage`, both as places in shared memory.
  __device__ static int Next(int stage) { return stage == (kStages - 1) * kStageSize ? 0 : stage + kStageSize; }

  // The last, shorter slab stops where the sum does: terms of padding would not all be 0 (infinite weights).
  template <bool kWhole>
  __device__ void Accumulate(const E* a, int count) {
    constexpr int kStep = sizeof(E) > 4 ? 2 : 4;
    const E* b = a + SlabA::kSize;
    const int end = kWhole ? kDepth : count;
    // Four steps fill the pipelines; all 16 of a slab of bytes would only take longer to compile.
    constexpr int kSteps = kDepth / kStep < 4 ? kDepth / kStep : 4;
#pragma unroll(kWhole ? kSteps : 1)
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
              sums_[i][j] = Op::Add(rows.values[i][v], cols.values[j][v], OwnAt(i, j), sums_[i][j]);
            }
          }
        }
      }
    }
  }

  // Words that the sum ends within are filled with zeros, which add nothing.
  __device__ void AccumulateWords(const E* a, int count) {
    constexpr int kWords = 4;  // of a load
    constexpr int kStep = kWords * kWord_bytes / static_cast<int>(sizeof(E));
    const E* b = a + SlabA::kSize;
    uint32_t pairs[Op::kPairs ? Shape::kThreadRows : 1][Op::kPairs ? Shape::kThreadCols : 1] = {};
#pragma unroll 1
    for (int k = 0; k < count; k += kStep) {
      uint32_t rows[Shape::kThreadRows][kWords];
      uint32_t cols[Shape::kThreadCols][kWords];
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        LoadShared<kWords>(rows[i], reinterpret_cast<const uint32_t*>(SlabA::At(a, SlabA::Line(row_, i), k)));
      }
#pragma unroll
      for (int j = 0; j < Shape::kThreadCols; ++j) {
        LoadShared<kWords>(cols[j], reinterpret_cast<const uint32_t*>(SlabB::At(b, SlabB::Line(col_, j), k)));
      }
#pragma unroll
      for (int v = 0; v < kWords; ++v) {
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
        if ((k / kStep + 1) * kWords % PairSum<E>::kWords == 0 || k + kStep >= count) {
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

  // A thread keeps to one column. Not unrolled: `element` is the code of every activation.
  template <class Element>
  __device__ void ForStaged(const S* out, int part, const Element& element) {
    constexpr int kRowStep = kBlockThreads / Shape::kCols;
    static_assert(kBlockThreads % Shape::kCols == 0);
    const int col = static_cast<int>(threadIdx.x) % Shape::kCols;
    const int64_t first_row = first_row_ + part * kOutRows;
    const int64_t left = args_.rows - first_row;
    const int rows = first_col_ + col >= args_.cols ? 0 : left < kOutRows ? static_cast<int>(left) : kOutRows;
#pragma unroll 1
    for (int row = static_cast<int>(threadIdx.x) / Shape::kCols; row < rows; row += kRowStep) {
      element(first_row + row, first_col_ + col, out[row * kOutStride + col]);
    }
  }

  const ProductArgs<E, S>& args_;
  E* shared_;
  int row_, col_;
  int64_t first_row_, first_col_, k_begin_, k_end_;
  S sums_[Shape::kThreadRows][Shape::kThreadCols];
  S own_[Op::kNeedsOwn ? Shape::kThreadRows : 1][Op::kNeedsOwn ? Shape::kThreadCols : 1];
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
