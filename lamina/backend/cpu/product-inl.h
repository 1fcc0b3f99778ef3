// The blocked product: packs operands into panels, runs register tiles over them, and finishes each tile while it is
// hot. One skeleton serves all passes: result(r, c) = sum over k of f(rows(r, k), columns(c, k)), where f may also take
// own(r, c). f is a Sum of tile-inl.h.
#if defined(LAMINA_BACKEND_CPU_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#undef LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#else
#define LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#endif

#include "lamina/backend/cpu/block-inl.h"
#include "lamina/backend/cpu/epilogue-inl.h"
#include "lamina/base/abandon.h"

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

// A place in the walk over strips of row groups × panels [first, first + panels). The walk goes row by row where panels
// stay in the cache, panel by panel where they are read from memory.
struct Walk {
  int64_t strips;
  int64_t first, panels;
  bool panel_by_panel;
  int64_t strip = 0, panel = 0;

  void Start(int64_t t) {
    strip = panel_by_panel ? t % strips : t / panels;
    panel = first + (panel_by_panel ? t / strips : t % panels);
  }
  void Next() {
    if (panel_by_panel) {
      if (++strip == strips) {
        strip = 0;
        ++panel;
      }
    } else if (++panel == first + panels) {
      panel = first;
      ++strip;
    }
  }
};

// A finish may leave out tiles of the result: of a symmetric one half is enough.
template <class Finish>
HWY_INLINE bool IsWanted(const Finish& finish, const TilePlace& at) {
  if constexpr (requires { finish.Wants(at); }) {
    return finish.Wants(at);
  } else {
    return true;
  }
}

// So many strips are computed between two looks at whether the product is still wanted: some tens of microseconds.
inline constexpr int64_t kTilesBetween = 8;

// Tiles of this thread.
template <class Sum, class T, class Finish>
void ComputeBlock(const ProductInput<T>& in, const Block<Sum, T>& block, const Finish& finish, Team team) {
  constexpr int64_t kRows = Sum::kSkipsZeros ? std::max<int64_t>(Sum::kRows, kPickingRows) : Sum::kRows;
  HWY_ALIGN T local[Finish::kRowTiles * kRows * kTileColumns<T>];
  const TileShape shape = Block<Sum, T>::ShapeOf(in);
  const int64_t tile_columns = shape.columns();
  const int64_t strip_size = Finish::kRowTiles * shape.rows * tile_columns;
  const bool split_sum = block.depth < in.depth;
  const bool last = block.k + block.depth >= in.depth;
  const bool asks_for_rows = AsksForRows(in, in.rows);
  const int64_t groups = block.row_groups.parts;
  const int64_t strips = CeilDivide(groups, Finish::kRowTiles);
  const Split parts(block.panels.parts, std::max<int64_t>(1, block.cache_columns / tile_columns));
  const auto place_of = [&](const Walk& walk) HWY_ATTR {
    const int64_t group = walk.strip * Finish::kRowTiles;
    return block.PlaceOf(group, std::min(group + Finish::kRowTiles, groups), walk.panel);
  };
  for (int64_t part = 0; part < parts.parts; ++part) {
    const int64_t first = parts.Begin(part);
    const Walk start{strips, first, parts.Begin(part + 1) - first, block.direct_columns};
    team.Share(strips * start.panels, static_cast<int>(part), [&](int64_t t, int64_t end) HWY_ATTR {
      Walk walk = start;
      walk.Start(t);
      TilePlace at = place_of(walk);
      for (; t < end; ++t) {
        if (t % kTilesBetween == 0 && Abandoned()) {
          return;
        }
        Walk next = walk;
        next.Next();
        const TilePlace next_at = t + 1 < end ? place_of(next) : at;
        if (!IsWanted(finish, at)) {
          walk = next;
          at = next_at;
          continue;
        }
        if (last) {
          finish.Prefetch(next_at);  // this tile's lines were asked for one tile ago
        }
        if (asks_for_rows && next.strip != walk.strip) {
          AskForRows(in.rows, next_at.row, next_at.row + next_at.rows, block.k, block.depth);
        }
        const int64_t group = walk.strip * Finish::kRowTiles;
        const int64_t tile_index = walk.strip * block.panels.parts + walk.panel;
        T* tile = split_sum ? in.scratch.partial + tile_index * strip_size : local;
        if (split_sum || !ComputeInPlace(in, block, finish, group, walk.panel, at)) {
          ComputeStrip(in, block, group, std::min(group + Finish::kRowTiles, groups), walk.panel, tile, block.k > 0);
          if (last) {
            finish(tile, at);
          }
        }
        walk = next;
        at = next_at;
      }
    });
  }
}

// Whether sums in parts may have panels of a thread: products, where it was measured. All others would be 100 kB of
// code more.
template <class Sum, class T>
inline constexpr bool kDividesPanels = false;
template <class T>
requires std::is_floating_point_v<T>
inline constexpr bool kDividesPanels<TermSum<formulas::ProductTerm>, T> = true;

inline constexpr int64_t kLeastPanels = 4;  // of a thread, for equal shares

// Whether each thread packs its own panels, one or a few at a time, into memory that stays in its second-level
// cache. With few rows the packed columns of a common block are hardly used. Through the third level they
// took 5 to 15 % of an input gradient of 32 to 128 samples. With many rows, each panel would have to read
// them anew.
template <class Sum, class T>
bool HasOwnPanels(const ProductInput<T>& in, Team team) {
  const TileShape shape = Block<Sum, T>::ShapeOf(in);
  const Blocking size = MakeBlocking(in.rows.count, in.columns.count, in.depth, shape, in.budget);
  // Panels of several blocks may have other widths, and gradients then another order. Short rows from memory gain where
  // there is one order.
  const bool same_panels = in.columns.count <= size.columns || (Sum::kOneOrder && AsksForRows(in, in.columns));
  // Packed rows of a divided sum are there for a part only. Its parts come anew with each panel, which took 250
  // rows 1.2 times as long.
  const bool divided = size.depth < in.depth;
  const bool rows_are_there = !divided || (kDividesPanels<Sum, T> && !Block<Sum, T>::PacksRows(in));
  // More rows than that where all of them stay in the second-level cache beside a panel.
  const int64_t near_rows = std::min(in.budget.column_block / size.depth, kMaxBlockRows);
  const bool few_rows = in.rows.count <= (divided ? kMostOwnRows / 2 : std::max(kMostOwnRows, near_rows));
  return in.rows.count > kDirectRows<Sum> && few_rows && same_panels && rows_are_there && !in.skips_zeros &&
         in.columns.count >= kLeastPanels * team.size * shape.columns() &&
         team.size * shape.columns() * std::max(size.depth, kMostOwnRows) <= in.budget.packed;
}

// Asks for the rows that the next panel is packed from, beside row groups [group, group_end) of `groups`, where
// ComputeBlock() would ask for them.
template <class Sum, class T>
HWY_NOINLINE void AskForPanel(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t p, int64_t group,
                              int64_t group_end, int64_t groups) {
  const int64_t first = block.PanelBegin(p);
  const int64_t columns = std::min(block.PanelVectors(p) * kLanes<T>, block.columns - first);
  AskForRows(in.columns, first + columns * group / groups, first + columns * group_end / groups, block.k, block.depth);
}

// Panels [first, end) of all rows: the parts of a divided sum one after the other, each packed to the same place.
template <class Sum, class T, class Finish>
void ComputePanels(const ProductInput<T>& in, const Blocking& size, T* packed, T* partial, const Finish& finish,
                   int64_t first, int64_t end) {
  HWY_ALIGN T local[Finish::kRowTiles * Sum::kRows * kTileColumns<T>];
  const TileShape shape = Block<Sum, T>::ShapeOf(in);
  const int64_t strip_size = Finish::kRowTiles * shape.rows * shape.columns();
  constexpr bool kDivides = kDividesPanels<Sum, T>;
  const bool asks_for_rows = AsksForRows(in, in.columns);
  int64_t k = 0;
  do {  // once for an empty sum, too
    Block<Sum, T> block(in, size, 0, 0, k);
    block.own_panels = packed;
    block.first_panel = first;
    for (int64_t p = first; p < end; ++p) {
      PackPanelOf(in, block, p, 0, block.depth);
    }
    const bool last = !kDivides || k + block.depth >= in.depth;
    const bool in_parts = kDivides && partial != nullptr;
    const int64_t groups = block.row_groups.parts;
    for (int64_t group = 0; group < groups; group += Finish::kRowTiles) {
      const int64_t group_end = std::min<int64_t>(group + Finish::kRowTiles, groups);
      for (int64_t p = first; p < end; ++p) {
        if (asks_for_rows && p + end - first < block.panels.parts) {
          AskForPanel(in, block, p + end - first, group, group_end, groups);
        }
        const TilePlace at = block.PlaceOf(group, group_end, p);
        if (!IsWanted(finish, at)) {
          continue;
        }
        if (last) {
          finish.Prefetch(at);
        }
        T* const tile = in_parts ? partial + group / Finish::kRowTiles * strip_size : local;
        if (in_parts || !ComputeInPlace(in, block, finish, group, p, at)) {
          ComputeStrip(in, block, group, group_end, p, tile, kDivides && k > 0);
          if (last) {
            finish(tile, at);
          }
        }
      }
    }
    k += size.depth;
  } while (kDivides && k < in.depth);
}

// The product where HasOwnPanels(). The panels are those of the other way, and so are the bits.
template <class Sum, class T, class Finish>
void ProductByPanels(const ProductInput<T>& in, const Finish& finish, Team team) {
  const TileShape shape = Block<Sum, T>::ShapeOf(in);
  const int64_t depth = EqualParts(in.depth, in.budget.depth, 1);
  const Blocking size{depth, in.columns.count, in.columns.count, in.rows.count};
  const Block<Sum, T> block(in, size, 0, 0, 0);
  if (block.pack_rows) {
    PackRows(in, block, team);
  }
  team.Barrier();
  const bool divided = depth < in.depth;
  const int64_t panels = block.panels.parts;
  const int64_t most = std::min(PanelsTogether(depth, shape, in.budget), panels / (kLeastPanels * team.size));
  const Split parts(panels, divided ? 1 : std::max<int64_t>(1, most));
  T* const packed = in.scratch.columns + team.thread * parts.size_at_most() * shape.columns() * depth;
  const int64_t rows = CeilDivide(block.row_groups.parts, Finish::kRowTiles) * Finish::kRowTiles * shape.rows;
  T* const partial = divided ? in.scratch.partial + team.thread * rows * shape.columns() : nullptr;
  team.Share(parts.parts, 0, [&](int64_t part, int64_t end) HWY_ATTR {
    for (; part < end && !Abandoned(); ++part) {
      ComputePanels<Sum>(in, size, packed, partial, finish, parts.Begin(part), parts.Begin(part + 1));
    }
  });
}

/// Whether a product of factors leaves out zeros of the columns: decided for every call from the data. The sums keep
/// their order and so their bits, but where a zero meets what is not finite.
template <class T>
bool SkipsZeros(const ProductInput<T>& in) {
  return in.scratch.picks != nullptr && in.rows.count >= kLeastRowsToPick && HasManyZeros(in.columns, in.depth);
}

/// Whole-team call. The sum of an element does not depend on the threads: each is one thread's work, in order
/// of k.
template <class Sum, class T, class Finish>
void Product(const ProductInput<T>& in, const Finish& finish, Team team) {
  if constexpr (HWY_TARGET != HWY_SCALAR) {  // without vectors it is not worth 200 kB of code
    if (HasOwnPanels<Sum>(in, team)) {
      return ProductByPanels<Sum>(in, finish, team);
    }
  }
  const Blocking size = MakeBlocking(in.rows.count, in.columns.count, in.depth, Block<Sum, T>::ShapeOf(in), in.budget);
  bool packed_before = false;
  for (int64_t r = 0; r < in.rows.count; r += size.rows) {
    for (int64_t c = 0; c < in.columns.count; c += size.columns) {
      int64_t k = 0;
      do {  // once for an empty sum, too
        const Block<Sum, T> block(in, size, r, c, k);
        if (packed_before) {
          team.Barrier();  // everybody is done with the panels
        }
        packed_before = true;
        if (!Abandoned()) {
          PackBlock(in, block, team);
        }
        team.Barrier();
        ComputeBlock(in, block, finish, team);
        k += size.depth;
      } while (k < in.depth);
    }
  }
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
