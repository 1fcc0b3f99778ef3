// The dot products of a layer by groups of four warps (wgmma.cuh): two groups, one below the other. Operands pass
// through registers from global to shared memory, a slab ahead of the products. A copy to shared memory alone neither
// rounds, nor puts k next to each other where lines are, nor gathers rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/slab.cuh"
#include "lamina/backend/cuda/wgmma.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// The threads of a block bring kLines lines of an operand of E to shared memory, slab by slab, rounded as Kind says.
template <class Kind, class E, Contiguous kContiguous, int kLines>
class Filler {
 public:
  static constexpr bool kRounds = std::is_same_v<E, float>;
  static constexpr bool kRowsAreLines = kContiguous == Contiguous::kSum;
  static_assert(kRounds || kRowsAreLines);
  static constexpr int kNumber_bytes = 4 / Kind::kPerRegister;
  // What waits in registers takes as many of them for every Kind.
  static constexpr int kRow_bytes = kRounds && kNumber_bytes == 2 ? 64 : 128;
  static constexpr int kDepth = kRow_bytes / kNumber_bytes;
  static constexpr int kSize_bytes = kLines * kRow_bytes;
  using Layout = Swizzled<kRow_bytes>;

  /// Lines [first_line, line_end), k from first_k on, of which `depth` are there.
  __device__ Filler(const Operand<E>& from, int64_t first_line, int64_t line_end, int64_t first_k, int depth)
      : stride_(from.stride),
        piece_(static_cast<int>(threadIdx.x) % kPiecesOfRow),
        line_(static_cast<int>(threadIdx.x) / kPiecesOfRow * kGroup),
        left_(depth - piece_ * kPiece),
        aligned_(from.aligned) {
    const int64_t lines = line_end - first_line;
    lines_ = (lines < kLines ? static_cast<int>(lines) : kLines) - line_;
    const int64_t k = first_k + piece_ * kPiece;
    at_ = from.data + (kRowsAreLines ? (first_line + line_) * stride_ + k : k * stride_ + first_line + line_);
  }

  /// Starts reading the next slab; what lies beyond the operand becomes 0.
  __device__ __forceinline__ void Fetch() {
#pragma unroll
    for (int i = 0; i < kTurns; ++i) {
      const int lines = Held(lines_ - i * kTurnLines, kGroup);
      const int depth = Held(left_, kPiece);
      const E* from = at_ + (kRowsAreLines ? i * kTurnLines * stride_ : i * kTurnLines);
      if constexpr (kRowsAreLines) {
        FetchRow(raw_[i][0], from, lines > 0 ? depth : 0);
      } else {
#pragma unroll
        for (int k = 0; k < kPiece; ++k) {
          FetchRow(raw_[i][k], from + k * stride_, k < depth ? lines : 0);
        }
      }
    }
    at_ += kRowsAreLines ? kDepth : kDepth * stride_;
    left_ -= kDepth;
  }

  /// What was fetched to the slab at `shared`.
  __device__ __forceinline__ void Put(std::byte* shared) const {
#pragma unroll
    for (int i = 0; i < kTurns; ++i) {
#pragma unroll
      for (int line = 0; line < kGroup; ++line) {
        const auto number = [&](int k) {
          if constexpr (kRowsAreLines) {
            return raw_[i][0][k];
          } else {
            return raw_[i][k][line];
          }
        };
        Words words;
        if constexpr (!kRounds) {
          words = raw_[i][0][0];
        } else {
#pragma unroll
          for (int w = 0; w < 4; ++w) {
            if constexpr (Kind::kPerRegister == 1) {
              words.of[w] = ToTf32(number(w));
            } else {
              words.of[w] = ToBFloat16s(number(2 * w), number(2 * w + 1));
            }
          }
        }
        RequireAligned<kPiece_bytes>(shared + Layout::Offset(line_ + i * kTurnLines + line, piece_));
        *reinterpret_cast<Words*>(shared + Layout::Offset(line_ + i * kTurnLines + line, piece_)) = words;
      }
    }
  }

 private:
  struct alignas(kPiece_bytes) Words {
    uint32_t of[4];
  };
  static constexpr int kPiece = kPiece_bytes / kNumber_bytes;  // numbers that stay together
  static constexpr int kPiecesOfRow = kRow_bytes / kPiece_bytes;
  static constexpr int kGroup = kRowsAreLines ? 1 : 16 / kPiece;  // lines that a thread has pieces of at once
  static constexpr int kTurnLines = kBlockThreads / kPiecesOfRow * kGroup;
  static constexpr int kTurns = kLines / kTurnLines;
  static_assert(kLines % kTurnLines == 0);
  static constexpr int kRowLength = kRowsAreLines ? kPiece : kGroup;  // of what is read of a row of global memory
  static constexpr int kVector = kRowLength < 4 ? kRowLength : 4;

  __device__ static int Held(int value, int most) { return value < 0 ? 0 : value < most ? value : most; }

  // Halves become words at once: apart they would take twice the registers.
  __device__ __forceinline__ void FetchRow(Words (&to)[1], const E* from, int count) const {
    if (aligned_ && count == kPiece) {
      RequireAligned<kPiece>(from);
      to[0] = *reinterpret_cast<const Words*>(from);
    } else {
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const uint32_t low = 2 * w < count ? from[2 * w].bits : 0;
        const uint32_t high = 2 * w + 1 < count ? from[2 * w + 1].bits : 0;
        to[0].of[w] = low | high << 16;
      }
    }
  }
  template <int kCount>
  __device__ __forceinline__ void FetchRow(float (&to)[kCount], const float* from, int count) const {
    static_assert(kCount == kRowLength);
    if (aligned_ && count == kRowLength) {
#pragma unroll
      for (int n = 0; n < kRowLength; n += kVector) {
        struct alignas(kVector * sizeof(float)) Pack {
          float values[kVector];
        };
        RequireAligned<kVector>(from + n);
        const Pack pack = *reinterpret_cast<const Pack*>(from + n);
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          to[n + v] = pack.values[v];
        }
      }
    } else {
#pragma unroll
      for (int n = 0; n < kRowLength; ++n) {
        to[n] = n < count ? from[n] : 0.0F;
      }
    }
  }

  const E* at_;
  int64_t stride_;
  int piece_, line_;  // of the first turn
  int lines_, left_;  // that are there of lines and k, from the thread's first on
  bool aligned_;
  std::conditional_t<kRounds, float, Words> raw_[kTurns][kRowsAreLines ? 1 : kPiece][kRounds ? kRowLength : 1];
};

/// The tile of one block: 128 rows.
template <int kCols_>
struct WgmmaShape {
  static constexpr int kRows = kBlockThreads / kWarpGroup * kGroupRows;
  static constexpr int kCols = kCols_;
};

/// Two slabs are in shared memory: a product is under way while the next slab comes. A third one gained nothing.
template <class Kind, class E, class Shape, Contiguous kA, Contiguous kB>
class WgmmaTile {
 public:
  using A = Filler<Kind, E, kA, Shape::kRows>;
  using B = Filler<Kind, E, kB, Shape::kCols>;
  using Layout = typename A::Layout;
  static constexpr int kSums = Shape::kCols / 2;
  static constexpr int kStage_bytes = A::kSize_bytes + B::kSize_bytes;
  static constexpr int kOutStride = Shape::kCols + 8;
  static constexpr int kOut_bytes = Shape::kRows * kOutStride * static_cast<int>(sizeof(float));
  static constexpr int kLargest_bytes = 2 * kStage_bytes > kOut_bytes ? 2 * kStage_bytes : kOut_bytes;
  static constexpr int64_t kShared_bytes = kLargest_bytes + Layout::kAtom_bytes;  // to begin where an atom may
  static constexpr int kResident = Shape::kCols > 128 ? 1 : 2;
  static_assert(kResident * (kShared_bytes + 1024) <= 228 * 1024);  // of a multiprocessor, 1 KiB a block is CUDA's

  __device__ WgmmaTile(const ProductArgs<E, float>& args, E* shared) : args_(args) {
    const int64_t tile_cols = (args.cols + Shape::kCols - 1) / Shape::kCols;
    first_row_ = blockIdx.x / tile_cols * Shape::kRows;
    first_col_ = blockIdx.x % tile_cols * Shape::kCols;
    const uint32_t address = SharedAddress(shared);
    constexpr uint32_t kAtom = Layout::kAtom_bytes;
    shared_ = reinterpret_cast<std::byte*>(shared) + ((kAtom - address % kAtom) % kAtom);
  }

  __device__ __forceinline__ void Compute(float (&sums)[kSums]) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = 0;
    }
    const int64_t k_begin = blockIdx.y * args_.depth_per_split;
    const int64_t k_end = k_begin + args_.depth_per_split < args_.depth ? k_begin + args_.depth_per_split : args_.depth;
    int left = static_cast<int>(k_end - k_begin);
    A a(args_.a, first_row_, args_.rows, k_begin, left);
    B b(args_.b, first_col_, args_.cols, k_begin, left);
    const int group = static_cast<int>(threadIdx.x) / kWarpGroup;
    const uint32_t own_rows = SharedAddress(shared_) + static_cast<uint32_t>(group * kGroupRows * A::kRow_bytes);
    const uint32_t all_cols = SharedAddress(shared_) + A::kSize_bytes;
    a.Fetch();
    b.Fetch();
    int stage = 0;
#pragma unroll 1
    for (; left > 0; left -= A::kDepth) {
      // While the other stage is multiplied.
      a.Put(shared_ + stage);
      b.Put(shared_ + stage + A::kSize_bytes);
      PublishToProducts();  // waits for loads under way: before the next ones
      a.Fetch();
      b.Fetch();
      WaitForProducts(sums);
      __syncthreads();
      BeginProducts(sums);
#pragma unroll
      for (int k = 0; k < A::kRow_bytes; k += kGroupDepth_bytes) {
        MultiplyAddGroup<Kind, Shape::kCols>(sums, Layout::Descriptor(own_rows + static_cast<uint32_t>(stage + k)),
                                             Layout::Descriptor(all_cols + static_cast<uint32_t>(stage + k)));
      }
      CommitProducts();
      stage = stage == 0 ? kStage_bytes : 0;
    }
    WaitForProducts(sums);
    __syncthreads();
  }

  template <class Epilogue>
  __device__ __forceinline__ void Store(const float (&sums)[kSums], const Epilogue& epilogue) const {
    float* out = reinterpret_cast<float*>(shared_);
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int row = static_cast<int>(threadIdx.x) / kWarp * 16 + lane / 4;
#pragma unroll
    for (int n = 0; n < Shape::kCols / 2; n += 2) {
      const float pair[2] = {sums[n], sums[n + 1]};
      StoreShared(out + (row + n % 4 / 2 * 8) * kOutStride + n / 4 * 8 + 2 * (lane % 4), pair);
    }
    __syncthreads();
    StoreStaged<Shape::kCols, kOutStride>(args_, out, first_row_, first_col_, Shape::kRows, epilogue);
  }

 private:
  const ProductArgs<E, float>& args_;
  std::byte* shared_;
  int64_t first_row_, first_col_;
};

template <class TileType, class E, class Epilogue>
__global__ void __launch_bounds__(kBlockThreads, TileType::kResident)
    WgmmaKernel(ProductArgs<E, float> args, Epilogue epilogue) {
  const TileType tile(args, &SharedAs<E>());
  float sums[TileType::kSums];  // not of the tile: so many stay in registers only by themselves
  tile.Compute(sums);
  tile.Store(sums, epilogue);
}

using WgmmaLargeShape = WgmmaShape<256>;
using WgmmaSmallShape = WgmmaShape<128>;

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
