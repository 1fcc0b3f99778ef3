// The blocked product: packs operands into panels, runs register tiles over them, and finishes each tile while it is
// hot. One skeleton serves all passes: result(r, c) = sum over k of f(rows(r, k), columns(c, k)), where f may also take
// own(r, c). f is a Sum of tile-inl.h.
#if defined(LAMINA_BACKEND_CPU_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#undef LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#else
#define LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#endif

#include "lamina/backend/cpu/strip-inl.h"
#include "lamina/base/abandon.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

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
  // More rows than that where they stay in the second-level cache, and the columns would not.
  const bool near = in.columns.count > size.cache_columns;
  const int64_t near_rows = near ? std::min(in.budget.column_block / size.depth, kMaxBlockRows) : 0;
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
