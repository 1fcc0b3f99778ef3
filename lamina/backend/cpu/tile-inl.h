// The micro-kernel: a register tile of rows × vectors, summed over k by the inner operation of a pass.
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
#elif HWY_TARGET == HWY_SCALAR  // nothing to gain from more
inline constexpr int kTileRows = 4;
inline constexpr int kTileVectors = 2;
#else
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 2;
#endif

template <class T>
inline constexpr int64_t kTileColumns = kTileVectors* kLanes<T>;
template <class T>
inline constexpr int64_t kTileSize = kTileRows* kTileColumns<T>;

/// Where a tile of the result lies.
struct TilePlace {
  int64_t row, rows;
  int64_t column, columns;
  int64_t width;  // of a row of the tile in memory, in elements: columns rounded up to whole vectors
};

// How many of a tile's rows, in groups of four, are read anew for every vector, by sums that keep the adder busy. On
// Zen 4 an AVX-512 broadcast takes the adder a cycle, but none as another instruction's operand in memory. A step of 8
// rows then takes 36 cycles instead of 40 (|x - w|), 25 instead of 32 ((x - w)^2, Precision::kFast). Not all rows of
// the latter are: their loads would exceed what Zen 5 does in its 12 cycles.
inline constexpr bool kOperandsBroadcast = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;
inline constexpr int kAllReadAnew = kOperandsBroadcast ? 4 : 0;
inline constexpr int kMostReadAnew = kOperandsBroadcast ? 3 : 0;

template <class Term>
inline constexpr bool kNeedsMask = std::is_same_v<Term, formulas::AbsoluteDifferenceTerm>;

/// Forward: rows and columns are the two operands of the term.
template <class Term>
struct TermSum {
  static constexpr bool kReadsOwn = false;
  static constexpr bool kOneOrder = true;
  static constexpr int kReadAnew = !Term::kIsDistance ? 0 : kNeedsMask<Term> ? kAllReadAnew : kMostReadAnew;
  static constexpr bool kSkipsZeros = !Term::kIsDistance;  // of the columns: a zero factor adds nothing
  // An absolute value needs a register for its mask and one for the difference. With 12 sums in 16 registers, these
  // were stored and loaded in every step: 1.4 times the time of 10 sums.
  static constexpr int kRows = kTileRows == 6 && kNeedsMask<Term> ? 5 : kTileRows;
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    return Term::Accumulate(Pack<T>(column), Pack<T>(row), Pack<T>(sum)).v;  // what is taken off may lie in memory
  }
};

/// Gradients: rows are the (scaled) delta, columns the other operand of the term. The result's place holds what the
/// gradient is taken of. A distance keeps it in registers beside the sums, so its tile has half the rows.
template <class Term>
struct SlopeSum {
  static constexpr bool kReadsOwn = Term::kIsDistance;
  static constexpr bool kOneOrder = false;
  static constexpr int kReadAnew = Term::kIsDistance ? kMostReadAnew : 0;
  static constexpr bool kSkipsZeros = !Term::kIsDistance;
  static constexpr int kRows = kReadsOwn ? kTileRows / 2 : kTileRows;
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T> own, VecOf<T> sum) {
    return Term::AccumulateSlope(Pack<T>(row), Pack<T>(own), Pack<T>(column), Pack<T>(sum)).v;
  }
};

/// What one tile reads. Vectors are loaded unaligned, so `columns` may be packed, or a matrix whose rows are k. `own`
/// is laid out like the tile; it is null where the sum does not read it.
template <class T>
struct TileInput {
  const T* rows;
  int64_t row_stride;
  int64_t row_k_stride;
  const T* columns;
  int64_t column_k_stride;
  int64_t depth;
  const T* own;
  const int32_t* picks;  // of a PickingTile
  const T* ahead;        // the rows behind these, which an AskingTile asks for
};

// One step of the sum for every element of the tile.
template <class Sum, class T, int kRows, int kVectors, int kOwnRows, int kOwnVectors>
HWY_INLINE void TileStep(const T* HWY_RESTRICT row, int64_t row_stride, const T* HWY_RESTRICT column,
                         const VecOf<T> (&own)[kOwnRows][kOwnVectors], VecOf<T> (&sum)[kRows][kVectors]) {
  const Tag<T> d;
  VecOf<T> c[kVectors];
  HWY_UNROLL(8)
  for (int j = 0; j < kVectors; ++j) {
    c[j] = hn::LoadU(d, column + j * kLanes<T>);
  }
  const T* row_of[kVectors];  // for the compiler not the same, where each vector is to read it by itself
  HWY_UNROLL(8)
  for (int j = 0; j < kVectors; ++j) {
    if constexpr (Sum::kReadAnew > 0) {
      asm("" : "+r"(row));
    }
    row_of[j] = row;
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) {
      const T* const at = row_of[i % 4 < Sum::kReadAnew ? j : 0] + i * row_stride;
      if constexpr (requires { Sum::template AccumulateAt<T>(at, c[j], sum[i][j]); }) {
        if (i % 4 < Sum::kReadAnew) {
          sum[i][j] = Sum::template AccumulateAt<T>(at, c[j], sum[i][j]);
          continue;
        }
      }
      sum[i][j] = Sum::template Accumulate<T>(hn::Set(d, *at), c[j], own[i % kOwnRows][j % kOwnVectors], sum[i][j]);
    }
  }
}

/// How many partial sums a tile of so many sums keeps. One too small to hide the FMA's latency (4 cycles, 2 a cycle)
/// has several. A Sum with kOneOrder does not: tiles of every size give the same bits. Forward passes have it
/// (LayerPlanRequest::any_slicing) at no cost, as their smallest tiles have 5 sums.
template <class Sum, int kSums>  // beside 6 operands of their own, 12 sums would not fit into 16 registers
inline constexpr int kTileSplit = Sum::kOneOrder || kSums >= (Sum::kReadsOwn ? 6 : 8) ? 1
                                  : kSums >= 4                                        ? 2
                                                                                      : 4;

/// The Sum whose tiles of so many partial sums have the same code, so that these are compiled in once.
template <class Sum, int kSplit>
struct SameTiles {
  using type = Sum;
};
template <>
struct SameTiles<SlopeSum<formulas::ProductTerm>, 1> {
  using type = TermSum<formulas::ProductTerm>;
};

/// Sums over k, each handed to use(i, j, sum of row i and vector j). kAsks: beside each step the rows behind are asked
/// for, as much as the step reads.
template <class Sum, class T, int kRows, int kVectors, bool kAsks = false, class Use>
HWY_INLINE void SumTile(const TileInput<T>& in, const Use& use) {
  const Tag<T> d;
  constexpr int kSplit = kTileSplit<Sum, kRows * kVectors>;
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
  // NOLINTBEGIN(bugprone-branch-clone): the same value only for tiles of one row or vector
  constexpr int kOwnRows = Sum::kReadsOwn ? kRows : 1;
  constexpr int kOwnVectors = Sum::kReadsOwn ? kVectors : 1;
  // NOLINTEND(bugprone-branch-clone)
  VecOf<T> own[kOwnRows][kOwnVectors];
  HWY_UNROLL(8)
  for (int i = 0; i < kOwnRows; ++i) {
    HWY_UNROLL(8)
    for (int j = 0; j < kOwnVectors; ++j) {
      own[i][j] = Sum::kReadsOwn ? hn::Load(d, in.own + i * kWidth + j * kLanes<T>) : hn::Zero(d);
    }
  }
  const T* row = in.rows;
  const T* column = in.columns;
  const int64_t row_stride = in.row_stride;
  const int64_t row_k_stride = in.row_k_stride;
  const int64_t column_k_stride = in.column_k_stride;
  int64_t k = in.depth;
  [[maybe_unused]] const T* ahead = in.ahead;
  for (; k >= kSplit; k -= kSplit) {
    if constexpr (kAsks) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kRows * kSplit;
    }
    HWY_UNROLL(8)
    for (int s = 0; s < kSplit; ++s) {
      TileStep<Sum, T>(row, row_stride, column, own, sum[s]);
      row += row_k_stride;
      column += column_k_stride;
    }
  }
  for (; kSplit > 1 && k > 0; --k) {
    TileStep<Sum, T>(row, row_stride, column, own, sum[0]);
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
      use(i, j, total);
    }
  }
}

// A sum stored in, or with `add` added to, a tile.
template <class T>
HWY_INLINE void StoreSum(VecOf<T> sum, T* to, bool add) {
  const Tag<T> d;
  hn::Store(add ? hn::Add(sum, hn::Load(d, to)) : sum, d, to);
}

/// tile[i * width + j] (width = kVectors * lanes) = or, with `add`, += the sum over k.
template <class Sum, class T, int kRows, int kVectors>
HWY_NOINLINE void Tile(const TileInput<T>& in, T* HWY_RESTRICT tile, bool add) {
  SumTile<Sum, T, kRows, kVectors>(in, [tile, add](int i, int j, VecOf<T> sum)
                                           HWY_ATTR { StoreSum<T>(sum, tile + (i * kVectors + j) * kLanes<T>, add); });
}

template <class T>
using TileFn = void (*)(const TileInput<T>&, T*, bool);

template <class Sum, class T, int kRows, int kVectors>
inline constexpr TileFn<T> kTileOf =
    &Tile<typename SameTiles<Sum, kTileSplit<Sum, kRows * kVectors>>::type, T, kRows, kVectors>;

/// Whether there are AskingTiles: whole ones of products, where it was measured.
template <class Sum, class T>
inline constexpr bool kAsksAhead = false;
template <class T>
requires std::is_floating_point_v<T>
inline constexpr bool kAsksAhead<TermSum<formulas::ProductTerm>, T> = HWY_TARGET != HWY_SCALAR;

/// Tile() of whole row groups that lie behind each other in memory: the next ones come to the second-level cache.
template <class Sum, class T, int kVectors>
HWY_NOINLINE void AskingTile(const TileInput<T>& in, T* HWY_RESTRICT tile, bool add) {
  SumTile<Sum, T, Sum::kRows, kVectors, true>(in, [tile, add](int i, int j, VecOf<T> sum) HWY_ATTR {
    StoreSum<T>(sum, tile + (i * kVectors + j) * kLanes<T>, add);
  });
}

/// The kernel for a tile of rows (1..Sum::kRows) × vectors (1..kTileVectors).
template <class Sum, class T>
HWY_INLINE TileFn<T> TileFor(int64_t rows, int64_t vectors) {
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<TileFn<T>, sizeof...(I)>{
        kTileOf<Sum, T, static_cast<int>(I) / kTileVectors + 1, static_cast<int>(I) % kTileVectors + 1>...};
  }
  (std::make_index_sequence<static_cast<size_t>(Sum::kRows * kTileVectors)>{});
  return kTable[static_cast<size_t>((rows - 1) * kTileVectors + vectors - 1)];
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
