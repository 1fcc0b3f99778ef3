// Leaves out zeros of a product's columns: a zero factor adds nothing to a sum. A look at some places tells whether
// enough are zero. Each vector's width of packed columns then keeps only the k where it is not all zero, and a list of
// these. A tile of one vector × many rows finds the other factors by the list.
#if defined(LAMINA_BACKEND_CPU_ZEROS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ZEROS_INL_H_
#undef LAMINA_BACKEND_CPU_ZEROS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ZEROS_INL_H_
#endif

#include "lamina/backend/cpu/pack-inl.h"
#include "lamina/backend/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// Sums of a tile: enough to hide the latency of one and the cost of a list.
inline constexpr int kPickingRows = 2 * kTileRows;

/// Rows of a tile; fewer where rows are read in place and would all share one or two sets of the first-level cache.
template <class T>
int64_t PickingRows(const Operand<T>& rows) {
  return rows.k_stride == 1 && rows.stride * static_cast<int64_t>(sizeof(T)) % 2048 == 0 ? kTileRows : kPickingRows;
}

// Fewer rows than this do not pay for making lists.
inline constexpr int64_t kLeastRowsToPick = 64;

/// For how many k in [k_begin, k_end), at most a vector's worth, a vector's worth of columns from `column` on is all
/// zero.
template <class T>
int64_t ZerosAt(const Operand<T>& operand, int64_t column, int64_t k_begin, int64_t k_end) {
  const Tag<T> d;
  const int64_t columns = std::min(kLanes<T>, operand.count - column);
  if (operand.k_stride == 1) {  // the vector runs along k
    auto any = hn::Zero(d);
    for (int64_t r = 0; r < columns && !hn::AllFalse(d, hn::Eq(any, hn::Zero(d))); ++r) {
      const T* from = operand.At(column + r, k_begin);
      const int64_t count = k_end - k_begin;
      any = hn::Or(any, hn::Abs(count < kLanes<T> ? LoadTail<T>(from, count) : hn::LoadU(d, from)));
    }
    return static_cast<int64_t>(hn::CountTrue(d, hn::Eq(any, hn::Zero(d)))) - (kLanes<T> - (k_end - k_begin));
  }
  int64_t zeros = 0;
  for (int64_t k = k_begin; k < k_end; ++k) {
    const T* from = operand.At(column, k);
    const auto v = columns < kLanes<T> ? LoadTail<T>(from, columns) : hn::LoadU(d, from);
    zeros += hn::AllTrue(d, hn::Eq(v, hn::Zero(d))) ? 1 : 0;
  }
  return zeros;
}

/// Whether leaving out zeros of the columns is worth it, judged by 256 pieces of a vector's columns at one k. Every
/// thread gets the same answer. Data without zeros are known after four loads. Where columns lie side by side, the
/// first quarter tells.
template <class T>
bool HasManyZeros(const Operand<T>& columns, int64_t depth) {
  constexpr int64_t kPlaces = 256 / kLanes<T>;
  // Odd, so that every place is visited, the first four far apart.
  constexpr int64_t kStepOfK = kPlaces * 5 / 16 | 1;
  constexpr int64_t kStepOfColumn = kPlaces * 7 / 16 | 1;
  const int64_t panels = CeilDivide(columns.count, kLanes<T>);
  const int64_t blocks = CeilDivide(depth, kLanes<T>);
  int64_t zeros = 0;
  int64_t seen = 0;
  for (int64_t i = 0; i < kPlaces; ++i) {
    const int64_t k = i * kStepOfK % kPlaces * blocks / kPlaces * kLanes<T>;
    const int64_t panel = i * kStepOfColumn % kPlaces * panels / kPlaces;
    const int64_t k_end = std::min(k + kLanes<T>, depth);
    zeros += ZerosAt(columns, panel * kLanes<T>, k, k_end);
    seen += k_end - k;
    if (i + 1 == std::max<int64_t>(4, kPlaces / 16) && zeros == 0) {
      return false;
    }
  }
  return 8 * zeros >= seen;
}

/// Keeps of a packed panel of one vector those k that are not all zero, in order, and says which in `picks`; returns
/// how many.
template <class T>
int64_t PickNonzeros(T* panel, int64_t depth, int32_t* picks) {
  const Tag<T> d;
  int64_t count = 0;
  for (int64_t k = 0; k < depth; ++k) {
    const auto v = hn::LoadU(d, panel + k * kLanes<T>);
    hn::StoreU(v, d, panel + count * kLanes<T>);
    picks[count] = static_cast<int32_t>(k);
    count += hn::AllTrue(d, hn::Eq(v, hn::Zero(d))) ? 0 : 1;
  }
  return count;
}

/// SumTile() of one vector, over the k of a list: the columns of in.picks[n] are at in.columns + n * lanes.
template <class Sum, class T, int kRows, class Use>
HWY_INLINE void SumPickedTile(const TileInput<T>& in, const Use& use) {
  const Tag<T> d;
  VecOf<T> sum[kRows];
  HWY_UNROLL(32)
  for (int i = 0; i < kRows; ++i) {
    sum[i] = hn::Zero(d);
  }
  const T* column = in.columns;
  const int64_t row_stride = in.row_stride;
  const int64_t row_k_stride = in.row_k_stride;
  for (int64_t n = 0; n < in.depth; ++n) {
    const T* row = in.rows + in.picks[n] * row_k_stride;
    const auto c = hn::LoadU(d, column);
    column += kLanes<T>;
    HWY_UNROLL(32)
    for (int i = 0; i < kRows; ++i) {
      sum[i] = Sum::template Accumulate<T>(hn::Set(d, row[i * row_stride]), c, c, sum[i]);
    }
  }
  HWY_UNROLL(32)
  for (int i = 0; i < kRows; ++i) {
    use(i, 0, sum[i]);
  }
}

/// Tile() of one vector where zeros are left out. Rows of the tile are `width` apart.
template <class Sum, class T, int kRows>
HWY_NOINLINE void PickingTile(const TileInput<T>& in, T* HWY_RESTRICT tile, int64_t width, bool add) {
  SumPickedTile<Sum, T, kRows>(
      in, [tile, width, add](int i, int, VecOf<T> sum) HWY_ATTR { StoreSum<T>(sum, tile + i * width, add); });
}

template <class T>
using PickingTileFn = void (*)(const TileInput<T>&, T*, int64_t, bool);

/// The kernel for a tile of so many rows, 1 to kPickingRows.
template <class Sum, class T>
HWY_INLINE PickingTileFn<T> PickingTileFor(int64_t rows) {
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<PickingTileFn<T>, sizeof...(I)>{
        &PickingTile<typename SameTiles<Sum, 1>::type, T, static_cast<int>(I) + 1>...};
  }
  (std::make_index_sequence<static_cast<size_t>(kPickingRows)>{});
  return kTable[static_cast<size_t>(rows - 1)];
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
