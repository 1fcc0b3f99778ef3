// How operands of a product reach a block, and how results leave it. Slabs of 64 bytes of k are copied asynchronously
// into shared memory, some slabs ahead of the computation.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/backend/cuda/language.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/backend/cuda/product.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kBlockSide = 16;
inline constexpr int kBlockThreads = kBlockSide * kBlockSide;
inline constexpr int kSlab_bytes = 64;
inline constexpr int kVector_bytes = 16;

/// kLines lines of an operand over one slab, in shared memory. Rows are padded by kPad vectors: consecutive lines then
/// fall into different banks.
template <class E, Contiguous kContiguous, int kPerThread, int kPad = 1>
struct Slab {
  static constexpr int kLines = kBlockSide * kPerThread;
  static constexpr int kVector = kVector_bytes / static_cast<int>(sizeof(E));
  static constexpr int kDepth = kSlab_bytes / static_cast<int>(sizeof(E));
  static constexpr bool kRowsAreLines = kContiguous == Contiguous::kSum;
  static constexpr int kRowCount = kRowsAreLines ? kLines : kDepth;
  static constexpr int kRowLength = kRowsAreLines ? kDepth : kLines;
  static constexpr int kStride = kRowLength + kPad * kVector;
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
    const int64_t rows = row_end - first_row;
    const int64_t cols = col_end - first_col;
    constexpr int kRowStep = kBlockThreads / kRowLength;
    static_assert(kBlockThreads % kRowLength == 0);
    int thread = static_cast<int>(threadIdx.x);
    Opaque(thread);  // all of this is worked out for each slab: kept, it would take the registers of sums
    const int col = thread % kRowLength;
    const int first = thread / kRowLength;
    const int inside = col >= cols ? 0 : rows < kRowCount ? static_cast<int>(rows) : kRowCount;
    const E* at = from.data + (first_row + first) * from.stride + first_col + col;
#pragma unroll 1
    for (int row = first; row < kRowCount; row += kRowStep) {
      E* const to = shared + row * kStride + col;
      if constexpr (sizeof(E) >= 4) {
        CopyAsync<sizeof(E)>(to, row < inside ? at : from.data, row < inside ? static_cast<int>(sizeof(E)) : 0);
      } else {  // less than what can be copied asynchronously
        *to = row < inside ? *at : E{};
      }
      at += kRowStep * from.stride;
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
    whole_ = lines == SlabType::kLines;
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
    E* const to = shared + row_ * SlabType::kStride + col_;
    // In most slabs: the tests below take longer than the copies. Tiles of f32 need the registers for their sums.
    if constexpr (sizeof(E) < sizeof(float)) {
      if (whole_ && k_left >= SlabType::kDepth) {
        const E* from = at_;
#pragma unroll
        for (int i = 0; i < kCopies; ++i) {
          CopyAsync(to + i * kRowStep * SlabType::kStride, from);
          from += row_step_;
        }
        at_ += slab_step_;
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const int row = row_ + i * kRowStep;
      int count = 0;
      if constexpr (SlabType::kRowsAreLines) {
        count = row < limit_ ? Valid(k_left - col_) : 0;
      } else {
        count = row < k_left ? limit_ : 0;
      }
      CopyAsync<kVector_bytes>(to + i * kRowStep * SlabType::kStride, count > 0 ? at_ + i * row_step_ : somewhere_,
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
  bool whole_;          // all lines are there
  int64_t row_step_, slab_step_;
};

/// The slabs of one block's part of a product, kStages of them in shared memory. body(a, left) is called for each in
/// order: `a` is the slab of the first operand, the second operand's stands behind it, and `left` of the sum remains.
/// All of the block's threads take part; they have met when it returns.
template <class SlabA, class SlabB, int kStages, class E, class S, class Body>
__device__ inline void ForSlabs(const ProductArgs<E, S>& args, int64_t first_row, int64_t first_col, E* shared,
                                const Body& body) {
  constexpr int kStageSize = SlabA::kSize + SlabB::kSize;
  constexpr int kDepth = SlabA::kDepth;
  const auto next = [](int stage) { return stage == (kStages - 1) * kStageSize ? 0 : stage + kStageSize; };
  const int64_t k_begin = blockIdx.y * args.depth_per_split;
  const int64_t k_end = k_begin + args.depth_per_split < args.depth ? k_begin + args.depth_per_split : args.depth;
  Loader<SlabA, E> load_a(args.a, first_row, args.rows, k_begin);
  Loader<SlabB, E> load_b(args.b, first_col, args.cols, k_begin);
  int left = static_cast<int>(k_end - k_begin);  // of the sum; one split has at most kMostDepth
  int to_copy = left;
  int to = 0;  // the stage that is copied to, and that which is read
  int from = 0;
  const auto stage = [&] {
    if (to_copy > 0) {
      E* a = shared + to;
      if (args.a.aligned) {
        load_a.Copy(a, to_copy);
      } else {
        SlabA::CopyElements(a, args.a, first_row, args.rows, k_end - to_copy, k_end);
      }
      if (args.b.aligned) {
        load_b.Copy(a + SlabA::kSize, to_copy);
      } else {
        SlabB::CopyElements(a + SlabA::kSize, args.b, first_col, args.cols, k_end - to_copy, k_end);
      }
      to_copy -= kDepth;
      to = next(to);
    }
    CommitCopies();  // also where nothing is left to copy: WaitForCopies counts groups
  };
#pragma unroll 1
  for (int i = 0; i < kStages - 1; ++i) {
    stage();
  }
#pragma unroll 1
  for (; left > 0; left -= kDepth) {
    WaitForCopies<kStages - 2>();
    __syncthreads();
    stage();
    const E* a = shared + from;
    from = next(from);
    body(a, left);
  }
  WaitForCopies<0>();
  __syncthreads();
}

/// Whether a thread's place among staged results is worked out where they are stored. Known from the start, it takes
/// registers of sums, as CopyElements(). Updates of parameters need too many registers there themselves.
template <class Epilogue>
inline constexpr bool kPlaceIsLate = true;
template <class T>
inline constexpr bool kPlaceIsLate<ParameterEpilogue<T>> = false;

/// element(row, col, count, sums) for the results of `out_rows` x kCols in shared memory, as far as `row` and `col` are
/// inside the whole product. `first_row` is the part's first row. A thread keeps to its columns. Not unrolled:
/// `element` is the code of every activation. By the kThreads threads that the caller is one of.
template <int kCols, int kStride, bool kLate, int kThreads = kBlockThreads, class E, class S, class Element>
__device__ inline void ForStaged(const ProductArgs<E, S>& args, const S* out, int64_t first_row, int64_t first_col,
                                 int out_rows, const Element& element) {
  constexpr int kFew = kTogether<S>;
  constexpr int kThreadsOfRow = kCols / kFew;
  constexpr int kRowStep = kThreads / kThreadsOfRow;
  static_assert(kThreads % kThreadsOfRow == 0 && kStride % kFew == 0);
  int thread = static_cast<int>(threadIdx.x);
  if constexpr (kThreads < kBlockThreads) {
    thread %= kThreads;
  }
  if constexpr (kLate) {
    Opaque(thread);
  }
  const int col = thread % kThreadsOfRow * kFew;
  const int64_t cols_left = args.cols - first_col - col;
  const int count = cols_left < kFew ? static_cast<int>(cols_left) : kFew;
  const int64_t left = args.rows - first_row;
  const int rows = count <= 0 ? 0 : left < out_rows ? static_cast<int>(left) : out_rows;
#pragma unroll 1
  for (int row = thread / kThreadsOfRow; row < rows; row += kRowStep) {
    S sums[kFew];
    LoadShared<kFew>(sums, out + row * kStride + col);
    element(first_row + row, first_col + col, count, sums);
  }
}

/// The staged results to where they go: parts of a split sum to args.partial, else through the epilogue. One that
/// reduces rows (reduce.cuh) takes them as they stand.
template <int kCols, int kStride, class E, class S, class Epilogue>
__device__ inline void StoreStaged(const ProductArgs<E, S>& args, const S* out, int64_t first_row, int64_t first_col,
                                   int out_rows, const Epilogue& epilogue) {
  constexpr bool kLate = kPlaceIsLate<Epilogue>;
  if constexpr (requires { epilogue.template Reduce<kCols, kStride>(args, out, first_row, first_col, out_rows); }) {
    epilogue.template Reduce<kCols, kStride>(args, out, first_row, first_col, out_rows);
  } else if (args.partial != nullptr) {
    const Rows<S> parts{args.partial + blockIdx.y * args.rows * args.cols, args.cols, args.cols % kTogether<S> == 0};
    ForStaged<kCols, kStride, kLate>(
        args, out, first_row, first_col, out_rows,
        [&](int64_t row, int64_t col, int count, const auto& sums) { parts.Store(row, col, count, sums); });
  } else {
    epilogue.Visit([&](const auto& element) {
      ForStaged<kCols, kStride, kLate>(args, out, first_row, first_col, out_rows, element);
    });
  }
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
