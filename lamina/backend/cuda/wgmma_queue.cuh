// The dot products of a layer of halves by three groups of four warps. One fetches slabs, two multiply them in turn:
// each has tiles of its own, and one multiplies while the results of the other one leave. A block computes tile after
// tile. Barriers of shared memory tell which slabs are there and which are done with. CUTLASS, "Efficient GEMM in
// CUDA", "Warp Specialization".
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/barriers.cuh"
#include "lamina/backend/cuda/wgmma_tile.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kMultiplyingGroups = 2;
inline constexpr int kQueueThreads = (1 + kMultiplyingGroups) * kWarpGroup;

/// How many blocks a cluster has. They have tiles below each other, and each fetches a part of the columns that they
/// share, for all.
template <unsigned kCluster_>
struct QueueShape {
  static constexpr unsigned kCluster = kCluster_;
  static constexpr int kRows = 128;
  static constexpr int kCols = 128;
  static constexpr int kProductsDown = 2;  // of a group, each of kGroupRows
};

/// Where slabs of halves come from: maps for copies of the hardware (TMA), which does not round.
struct Sources {
  TensorMap a, b;
};

template <class Kind, class E, class Shape>
class WgmmaQueue {
 public:
  static constexpr int kRow_bytes = kPartRow_bytes;
  static constexpr int kDepth = kRow_bytes / static_cast<int>(sizeof(E));
  using Layout = Swizzled<kRow_bytes>;
  static constexpr int kRowSize_bytes = Shape::kRows * kRow_bytes;  // of a slab's rows; its columns follow
  static constexpr int kStage_bytes = kRowSize_bytes + Shape::kCols * kRow_bytes;
  static constexpr int kStages = 192 * 1024 / kStage_bytes < 8 ? 192 * 1024 / kStage_bytes : 8;
  static constexpr int kSums = Shape::kCols / 2;
  // Results leave warp by warp, some columns at a time.
  static constexpr int kOutRows = 16;
  static constexpr int kOutCols = 32;
  static constexpr int kOutStride = kOutCols + 8;
  static constexpr int kOut_bytes = kOutRows * kOutStride * static_cast<int>(sizeof(float));
  static constexpr int kOutWarps = kMultiplyingGroups * kWarpGroup / kWarp;
  static constexpr int64_t kShared_bytes =
      kStages * kStage_bytes + kOutWarps * kOut_bytes +
      (2 * kStages + kMultiplyingGroups) * static_cast<int>(sizeof(SharedBarrier)) + Layout::kAtom_bytes;
  static_assert(kShared_bytes <= 227 * 1024);
  // Registers of a thread that fetches, and of one that multiplies: of 504 in all.
  static constexpr int kFetching = 40;
  static constexpr int kMultiplying = 232;
  // Warps that tell of a slab that it is done with.
  static constexpr int kReaders = kWarpGroup / kWarp * static_cast<int>(Shape::kCluster);

  __device__ WgmmaQueue(const ProductArgs<E, float>& args, const Sources& sources, E* shared)
      : args_(args), sources_(sources) {
    constexpr uint32_t kAtom = Layout::kAtom_bytes;
    shared_ = reinterpret_cast<std::byte*>(shared) + ((kAtom - SharedAddress(shared) % kAtom) % kAtom);
    full_ = reinterpret_cast<SharedBarrier*>(shared_ + kStages * kStage_bytes + kOutWarps * kOut_bytes);
    turns_ = full_ + kStages;
    empty_ = turns_ + kMultiplyingGroups;
    rank_ = Shape::kCluster > 1 ? ClusterRank() : 0;
    tile_cols_ = Parts(args.cols, Shape::kCols);
    tiles_ =
        Parts(Parts(args.rows, Shape::kRows), Shape::kCluster) * tile_cols_ * Parts(args.depth, args.depth_per_split);
  }

  template <class Epilogue>
  __device__ __forceinline__ void Run(const Epilogue& epilogue) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages; ++i) {
        InitBarrier(full_ + i, 1);
      }
      for (int i = 0; i < kMultiplyingGroups; ++i) {
        InitBarrier(turns_ + i, kWarpGroup / kWarp);
      }
      for (int i = 0; i < kStages; ++i) {
        InitBarrier(empty_ + i, kReaders);
      }
      AnnounceBarriers();
    }
    MeetOthers();
    const int group = static_cast<int>(threadIdx.x) / kWarpGroup;
    if (group == 0) {
      GiveRegisters<kFetching>();
      if (threadIdx.x < kWarp) {
        FetchParts();
      }
    } else {
      TakeRegisters<kMultiplying>();
      Multiply(group - 1, epilogue);
    }
    if constexpr (Shape::kCluster > 1) {
      MeetOthers();  // who left would be asked for its barriers
    }
  }

 private:
  struct Place {
    int64_t row, col, first_k;
    int depth, part;
  };
  // Where the next slab is, and how often all stages were used.
  struct Turn {
    int stage = 0;
    unsigned parity = 0;
    __device__ void Next() {
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1U;
      }
    }
    __device__ void Skip(int slabs) {
      const int to = stage + slabs;
      parity ^= static_cast<unsigned>(to / kStages) & 1U;
      stage = to % kStages;
    }
  };

  __device__ static int64_t Parts(int64_t count, int64_t size) { return (count + size - 1) / size; }
  __device__ static int SlabsOf(const Place& place) { return (place.depth + kDepth - 1) / kDepth; }
  __device__ void MeetOthers() const {
    if constexpr (Shape::kCluster > 1) {
      WaitForCluster();
    } else {
      __syncthreads();
    }
  }

  // body(place) for each tile of the block.
  template <class Body>
  __device__ __forceinline__ void ForTiles(const Body& body) const {
#pragma unroll 1
    for (int64_t tile = blockIdx.x / Shape::kCluster; tile < tiles_; tile += gridDim.x / Shape::kCluster) {
      const int64_t across = tile % tile_cols_;
      const int64_t rest = tile / tile_cols_;
      const int64_t down = Parts(Parts(args_.rows, Shape::kRows), Shape::kCluster);
      Place place;
      place.row = (rest % down * Shape::kCluster + rank_) * Shape::kRows;
      place.col = across * Shape::kCols;
      place.part = static_cast<int>(rest / down);
      place.first_k = place.part * args_.depth_per_split;
      const int64_t left = args_.depth - place.first_k;
      place.depth = static_cast<int>(left < args_.depth_per_split ? left : args_.depth_per_split);
      body(place);
    }
  }

  // By one warp, of which one thread asks the hardware.
  __device__ __forceinline__ void FetchParts() const {
    constexpr int kOwnCols = Shape::kCols / static_cast<int>(Shape::kCluster);
    constexpr auto kAll = static_cast<uint16_t>((1U << Shape::kCluster) - 1);
    const int own_cols = static_cast<int>(rank_) * kOwnCols;
    Turn turn;
    ForTiles([&](const Place& place) {
      const int slabs = SlabsOf(place);
#pragma unroll 1
      for (int slab = 0; slab < slabs; ++slab) {
        WaitForPhase(empty_ + turn.stage, turn.parity ^ 1U);
        if (threadIdx.x == 0) {
          std::byte* const to = shared_ + turn.stage * kStage_bytes;
          SharedBarrier* const full = full_ + turn.stage;
          const auto k = static_cast<int32_t>(place.first_k + slab * kDepth);
          ArriveExpecting(full, kStage_bytes);
          CopyPart<false>(to, sources_.a, static_cast<int32_t>(place.row), k, full, static_cast<uint16_t>(1U << rank_));
          CopyPart<(Shape::kCluster > 1)>(to + kRowSize_bytes + own_cols * kRow_bytes, sources_.b,
                                          static_cast<int32_t>(place.col) + own_cols, k, full, kAll);
        }
        __syncwarp();
        turn.Next();
      }
    });
  }

  template <class Epilogue>
  __device__ __forceinline__ void Multiply(int group, const Epilogue& epilogue) const {
    const uint32_t shared = SharedAddress(shared_);
    Turn turn;
    int number = 0;  // of the tile
    ForTiles([&](const Place& place) {
      const int slabs = SlabsOf(place);
      if (number++ % kMultiplyingGroups != group) {
        turn.Skip(slabs);
        return;
      }
      float sums[Shape::kProductsDown][kSums];
#pragma unroll
      for (int p = 0; p < Shape::kProductsDown; ++p) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
          sums[p][i] = 0;
        }
      }
      BeginTurn(group, number - 1);
      Turn before = turn;
#pragma unroll 1
      for (int slab = 0; slab < slabs; ++slab) {
        WaitForPhase(full_ + turn.stage, turn.parity);
        const uint32_t rows = shared + static_cast<uint32_t>(turn.stage * kStage_bytes);
        const uint32_t cols = shared + static_cast<uint32_t>(turn.stage * kStage_bytes + kRowSize_bytes);
        StartProducts(sums, rows, cols);
        WaitForProducts<1>(sums[0]);
        if (slab > 0) {
          Release(before);
        }
        before = turn;
        turn.Next();
      }
      EndTurn(group);
#pragma unroll
      for (int p = 0; p < Shape::kProductsDown; ++p) {
        WaitForProducts(sums[p]);
      }
      if (slabs > 0) {
        Release(before);
      }
      Store(sums, place, epilogue);
    });
  }

  // A group waits until the other one has seen all slabs before its own. A barrier that is more than a phase behind
  // would look as if its phase had ended. `number`: of the tile.
  __device__ __forceinline__ void BeginTurn(int group, int number) const {
    const unsigned round = static_cast<unsigned>(number / kMultiplyingGroups);
    WaitForPhase(turns_ + group, (round ^ (group == 0 ? 1U : 0U)) & 1U);  // the first group's first turn is free
  }
  __device__ __forceinline__ void EndTurn(int group) const {
    __syncwarp();
    if (threadIdx.x % kWarp == 0) {
      Arrive(turns_ + (1 - group), rank_);
    }
  }

  // Those of the slab whose rows and columns begin at these addresses.
  __device__ __forceinline__ void StartProducts(float (&sums)[Shape::kProductsDown][kSums], uint32_t rows,
                                                uint32_t cols) const {
#pragma unroll
    for (int p = 0; p < Shape::kProductsDown; ++p) {
      BeginProducts(sums[p]);
    }
#pragma unroll
    for (int k = 0; k < kRow_bytes; k += kGroupDepth_bytes) {
#pragma unroll
      for (int p = 0; p < Shape::kProductsDown; ++p) {
        MultiplyAddGroup<Kind, Shape::kCols>(
            sums[p], Layout::Descriptor(rows + static_cast<uint32_t>(p * kGroupRows * kRow_bytes + k)),
            Layout::Descriptor(cols + static_cast<uint32_t>(k)));
      }
    }
    CommitProducts();
  }

  // The slab may be overwritten, in every block that has its columns.
  __device__ __forceinline__ void Release(const Turn& turn) const {
    __syncwarp();
    const unsigned lane = threadIdx.x % kWarp;
    if (lane < Shape::kCluster) {
      Arrive(empty_ + turn.stage, lane);
    }
  }

  template <class Epilogue>
  __device__ __forceinline__ void Store(const float (&sums)[Shape::kProductsDown][kSums], const Place& place,
                                        const Epilogue& epilogue) const {
    constexpr int kAcross = Shape::kCols / kOutCols;
    const int thread = static_cast<int>(threadIdx.x) - kWarpGroup;
    const int lane = thread % kWarp;
    float* const out = reinterpret_cast<float*>(shared_ + kStages * kStage_bytes + thread / kWarp * kOut_bytes);
    const int64_t row = place.row + thread / kWarp % 4 * kOutRows;
#pragma unroll 1
    for (int piece = 0; piece < Shape::kProductsDown * kAcross; ++piece) {
      __syncwarp();
#pragma unroll
      for (int p = 0; p < Shape::kProductsDown * kAcross; ++p) {  // by number: sums are registers
        if (p == piece) {
#pragma unroll
          for (int n = 0; n < kOutCols / 2; n += 2) {
            const float* const from = sums[p / kAcross] + p % kAcross * (kOutCols / 2) + n;
            const float pair[2] = {from[0], from[1]};
            StoreShared(out + (lane / 4 + n % 4 / 2 * 8) * kOutStride + n / 4 * 8 + 2 * (lane % 4), pair);
          }
        }
      }
      __syncwarp();
      const int64_t out_row = row + piece / kAcross * kGroupRows;
      const int64_t out_col = place.col + piece % kAcross * kOutCols;
      const auto store = [&](const auto& element) {
        ForStaged<kOutCols, kOutStride, kPlaceIsLate<Epilogue>, kWarp>(args_, out, out_row, out_col, kOutRows, element);
      };
      if (args_.partial != nullptr) {
        const Rows<float> parts{args_.partial + place.part * args_.rows * args_.cols, args_.cols,
                                args_.cols % kTogether<float> == 0};
        store([&](int64_t to, int64_t col, int count, const auto& of) { parts.Store(to, col, count, of); });
      } else {
        epilogue.Visit(store);
      }
    }
  }

  const ProductArgs<E, float>& args_;
  const Sources& sources_;
  std::byte* shared_;
  SharedBarrier* full_;
  SharedBarrier* turns_;  // of each group that multiplies
  SharedBarrier* empty_;
  unsigned rank_;
  int64_t tile_cols_, tiles_;
};

template <class Queue, class E, class Epilogue>
__global__ void __launch_bounds__(kQueueThreads, 1)
    WgmmaQueueKernel(const ProductArgs<E, float> args, const __grid_constant__ Sources sources,
                     const Epilogue epilogue) {
  Queue(args, sources, &SharedAs<E>()).Run(epilogue);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
