// The micro-kernel: a register tile of rows × vectors, summed over k by a synapse's inner operation.
#if defined(LAMINA_BACKEND_CPU_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_TILE_INL_H_
#undef LAMINA_BACKEND_CPU_TILE_INL_H_
#else
#define LAMINA_BACKEND_CPU_TILE_INL_H_
#endif

#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// 24 sums and 4 operands of 32 vector registers, or 12 and 3 of 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
inline constexpr int kTileRows = 8;
inline constexpr int kTileVectors = 3;
#else
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 2;
#endif

template <class T>
inline constexpr int64_t kTileColumns = kTileVectors* kLanes<T>;
template <class T>
inline constexpr int64_t kTileSize = kTileRows* kTileColumns<T>;

/// sum += x w.
struct DotSynapse {
  template <class V>
  static HWY_INLINE V Accumulate(V row, V column, V sum) {
    return hn::MulAdd(row, column, sum);
  }
};

/// What one tile reads. Vectors are loaded unaligned, so `columns` may be packed or a matrix whose rows are
/// k.
template <class T>
struct TileInput {
  const T* rows;
  int64_t row_stride;
  int64_t row_k_stride;
  const T* columns;
  int64_t column_k_stride;
  int64_t depth;
};

// One step of the sum for every element of the tile.
template <class Synapse, class T, int kRows, int kVectors>
HWY_INLINE void TileStep(const T* HWY_RESTRICT row, int64_t row_stride, const T* HWY_RESTRICT column,
                         VecOf<T> (&sum)[kRows][kVectors]) {
  const Tag<T> d;
  VecOf<T> c[kVectors];
  HWY_UNROLL(8)
  for (int j = 0; j < kVectors; ++j) {
    c[j] = hn::LoadU(d, column + j * kLanes<T>);
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    const auto r = hn::Set(d, row[i * row_stride]);
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = Synapse::Accumulate(r, c[j], sum[i][j]);
    }
  }
}

/// tile[i * width + j] (width = kVectors * lanes) = or, with `add`, += the sum over k. Tiles too small to
/// hide the FMA's latency of 4 cycles at 2 a cycle keep several partial sums.
template <class Synapse, class T, int kRows, int kVectors>
HWY_NOINLINE void Tile(const TileInput<T>& in, T* HWY_RESTRICT tile, bool add) {
  const Tag<T> d;
  constexpr int kSplit = kRows * kVectors >= 8 ? 1 : kRows * kVectors >= 4 ? 2 : 4;
  constexpr int64_t kWidth = kVectors * kLanes<T>;
  VecOf<T> sum[kSplit][kRows][kVectors];
  HWY_UNROLL(8)
  for (int s = 0; s < kSplit; ++s) {
    HWY_UNROLL(8)
    for (int i = 0; i < kRows; ++i) {
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) {
        sum[s][i][j] = hn::Zero(d);
      }
    }
  }
  const T* row = in.rows;
  const T* column = in.columns;
  const int64_t row_stride = in.row_stride;
  const int64_t row_k_stride = in.row_k_stride;
  const int64_t column_k_stride = in.column_k_stride;
  int64_t k = in.depth;
  for (; k >= kSplit; k -= kSplit) {
    HWY_UNROLL(8)
    for (int s = 0; s < kSplit; ++s) {
      TileStep<Synapse, T, kRows, kVectors>(row, row_stride, column, sum[s]);
      row += row_k_stride;
      column += column_k_stride;
    }
  }
  for (; kSplit > 1 && k > 0; --k) {
    TileStep<Synapse, T, kRows, kVectors>(row, row_stride, column, sum[0]);
    row += row_k_stride;
    column += column_k_stride;
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) {
      auto total = sum[0][i][j];
      HWY_UNROLL(8)
      for (int s = 1; s < kSplit; ++s) {
        total = hn::Add(total, sum[s][i][j]);
      }
      T* to = tile + i * kWidth + j * kLanes<T>;
      hn::Store(add ? hn::Add(total, hn::Load(d, to)) : total, d, to);
    }
  }
}

template <class T>
using TileFn = void (*)(const TileInput<T>&, T*, bool);

/// The kernel for a tile of rows (1..kTileRows) × vectors (1..kTileVectors).
template <class Synapse, class T>
HWY_INLINE TileFn<T> TileFor(int64_t rows, int64_t vectors) {
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<TileFn<T>, sizeof...(I)>{
        &Tile<Synapse, T, static_cast<int>(I) / kTileVectors + 1, static_cast<int>(I) % kTileVectors + 1>...};
  }
  (std::make_index_sequence<static_cast<size_t>(kTileRows * kTileVectors)>{});
  return kTable[static_cast<size_t>((rows - 1) * kTileVectors + vectors - 1)];
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
