// Tiles of a blocked product and strips of them: what each reads, and how its sum is computed or finished in place.
#if defined(LAMINA_BACKEND_CPU_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_STRIP_INL_H_
#undef LAMINA_BACKEND_CPU_STRIP_INL_H_
#else
#define LAMINA_BACKEND_CPU_STRIP_INL_H_
#endif

#include "lamina/backend/cpu/block-inl.h"
#include "lamina/backend/cpu/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// What tile (g, p) reads of the rows and, where zeros are left out, of vector v of its panel.
template <class Sum, class T>
TileInput<T> PickedInput(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t g, int64_t p, int64_t v) {
  const int64_t first_row = block.row_groups.Begin(g);
  const int64_t column = block.PanelBegin(p) + v * kLanes<T>;
  const int32_t* const picks = block.PicksOf(in, column / kLanes<T>);
  TileInput<T> input{};
  input.rows = block.pack_rows ? in.scratch.rows + first_row * block.depth : in.rows.At(block.row + first_row, block.k);
  input.row_stride = block.pack_rows ? 1 : in.rows.stride;
  input.row_k_stride = block.pack_rows ? block.row_groups.Begin(g + 1) - first_row : 1;
  input.columns = in.scratch.columns + column * block.depth;
  input.depth = picks[0];
  input.picks = picks + 1;
  return input;
}

// What tile (g, p) reads, but for TileInput::own.
template <class Sum, class T>
TileInput<T> DenseInput(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t g, int64_t p) {
  const int64_t first_row = block.row_groups.Begin(g);
  TileInput<T> input{};
  input.depth = block.depth;
  if (block.pack_rows) {
    input.rows = in.scratch.rows + first_row * block.depth;
    const bool by_row = in.rows.encoding != nullptr && in.rows.k_stride == 1;
    input.row_stride = by_row ? block.depth : 1;
    input.row_k_stride = by_row ? 1 : block.row_groups.Begin(g + 1) - first_row;
  } else {
    input.rows = in.rows.At(block.row + first_row, block.k);
    input.row_stride = in.rows.stride;
    input.row_k_stride = in.rows.k_stride;
  }
  if (block.IsDirect(p)) {
    input.columns = in.columns.At(block.column + block.PanelBegin(p), block.k);
    input.column_k_stride = in.columns.k_stride;
  } else {
    input.columns = block.PanelData(in, p);
    input.column_k_stride = block.PanelVectors(p) * kLanes<T>;
  }
  return input;
}

// Computes tile (g, p) into `tile` where zeros are left out: vector by vector, each by its list. Apart from
// ComputeTile, so that dense tiles pay nothing.
template <class Sum, class T>
HWY_NOINLINE void ComputeTileOfNonzeros(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t g, int64_t p,
                                        T* tile, bool add) {
  const int64_t rows = block.row_groups.Begin(g + 1) - block.row_groups.Begin(g);
  const int64_t vectors = block.PanelVectors(p);
  for (int64_t v = 0; v < vectors; ++v) {
    PickingTileFor<Sum, T>(rows)(PickedInput(in, block, g, p, v), tile + v * kLanes<T>, vectors * kLanes<T>, add);
  }
}

// Computes tile (g, p) into `tile`.
template <class Sum, class T>
void ComputeTile(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t g, int64_t p, T* tile, bool add) {
  TileInput<T> input = DenseInput(in, block, g, p);
  HWY_ALIGN T own[Sum::kReadsOwn ? Sum::kRows * kTileColumns<T> : 1];
  if constexpr (Sum::kReadsOwn) {
    const TilePlace at = block.PlaceOf(g, g + 1, p);
    for (int64_t i = 0; i < at.rows; ++i) {
      T* const row = own + i * at.width;
      Transform<T>(
          at.columns, row, [](VecOf<T> v) HWY_ATTR { return v; }, in.own + (at.row + i) * in.own_stride + at.column);
      std::fill(row + at.columns, row + at.width, T(0));
    }
    input.own = own;
  }
  const int64_t rows = block.row_groups.Begin(g + 1) - block.row_groups.Begin(g);
  const int64_t vectors = block.PanelVectors(p);
  if constexpr (kAsksAhead<Sum, T>) {
    if (block.asks_ahead && p == 0 && rows == Sum::kRows) {
      input.ahead = input.rows + rows * input.row_stride;
      constexpr std::array<TileFn<T>, 3> kTiles{&AskingTile<Sum, T, 1>, &AskingTile<Sum, T, std::min(2, kTileVectors)>,
                                                &AskingTile<Sum, T, kTileVectors>};
      return kTiles[static_cast<size_t>(vectors - 1)](input, tile, add);
    }
  }
  TileFor<Sum, T>(rows, vectors)(input, tile, add);
}

// Computes all of tile (g, p)'s sum and finishes it from the registers. Returns false unless the finish has whole tiles
// and this is one.
template <class Sum, class T, class Finish>
HWY_INLINE bool ComputeInPlace(const ProductInput<T>& in, const Block<Sum, T>& block, const Finish& finish, int64_t g,
                               int64_t p, const TilePlace& at) {
  if constexpr (requires { finish.in_place; }) {
    if (finish.in_place == nullptr || at.columns != at.width ||
        at.rows != (in.skips_zeros ? kPickingRows : Sum::kRows)) {
      return false;
    }
    const int64_t vectors = block.PanelVectors(p);
    if (!in.skips_zeros) {
      finish.Finish(finish.in_place->dense[vectors - 1], DenseInput(in, block, g, p), at.row, at.column);
    }
    for (int64_t v = 0; in.skips_zeros && v < vectors; ++v) {
      finish.Finish(finish.in_place->picked, PickedInput(in, block, g, p, v), at.row, at.column + v * kLanes<T>);
    }
    return true;
  }
  return false;
}

// Computes row groups [group, group_end) of panel p into `tile`, one after the other.
template <class Sum, class T>
HWY_INLINE void ComputeStrip(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t group, int64_t group_end,
                             int64_t p, T* tile, bool add) {
  const int64_t width = block.PanelVectors(p) * kLanes<T>;
  for (int64_t g = group; g < group_end; ++g) {
    T* const to = tile + (block.row_groups.Begin(g) - block.row_groups.Begin(group)) * width;
    if constexpr (Sum::kSkipsZeros) {
      if (in.skips_zeros) {
        ComputeTileOfNonzeros(in, block, g, p, to, add);
        continue;
      }
    }
    ComputeTile(in, block, g, p, to, add);
  }
}

// Whether rows of an operand are prefetched: the matrix exceeds the second-level cache, and rows are too short for the
// processor to see a stream. (With 784 inputs it cost 10 %, as did fetching into the first level.)
template <class T>
bool AsksForRows(const ProductInput<T>& in, const Operand<T>& operand) {
  constexpr int64_t kShort_bytes = 1024;
  return operand.k_stride == 1 && operand.encoding == nullptr &&
         in.depth * static_cast<int64_t>(sizeof(T)) <= kShort_bytes &&
         operand.count * operand.stride > 2 * in.budget.column_block;
}

// Into the second level.
template <class T>
HWY_NOINLINE void AskForRows(const Operand<T>& operand, int64_t begin, int64_t end, int64_t k_begin, int64_t depth) {
  KeepCalls();
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t k = 0; k < depth; k += kLineElements<T>) {
      __builtin_prefetch(operand.At(r, k_begin + k), 0, 2);
    }
  }
}

// A finish may leave out tiles of the result: of a symmetric one half is enough.
template <class Finish>
HWY_INLINE bool IsWanted(const Finish& finish, const TilePlace& at) {
  if constexpr (requires { finish.Wants(at); }) {
    return finish.Wants(at);
  } else {
    return true;
  }
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
