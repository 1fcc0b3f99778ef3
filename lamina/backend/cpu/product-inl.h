// The blocked product: packs operands into panels, runs register tiles over them, and finishes each tile
// while it is hot. One skeleton for all passes: result(r, c) = sum over k of f(rows(r, k), columns(c, k)), or of
// f(rows(r, k), columns(c, k), own(r, c)); f is a Sum of tile-inl.h.
#if defined(LAMINA_BACKEND_CPU_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#undef LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#else
#define LAMINA_BACKEND_CPU_PRODUCT_INL_H_
#endif

#include "lamina/backend/cpu/epilogue-inl.h"
#include "lamina/backend/cpu/pack-inl.h"
#include "lamina/backend/cpu/tile-inl.h"
#include "lamina/backend/cpu/zeros-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// Rows are read one value at a time (broadcast) and need packing only where they are not contiguous along k;
/// columns are read as vectors.
template <class T>
struct ProductInput {
  Operand<T> rows;
  Operand<T> columns;
  int64_t depth;
  Scratch<T> scratch;
  CacheBudget budget;
  const T* own = nullptr;  // own(r, c) at own[r * own_stride + c], where the Sum reads it
  int64_t own_stride = 0;
  bool skips_zeros = false;  // of the columns; see SkipsZeros()
};

// Boundaries of equal parts of `count`, without a division per part: tiles of a small batch take 200 cycles.
struct Split {
  int64_t parts;
  int64_t size;
  int64_t larger;  // the first parts have one more

  Split(int64_t count, int64_t most)
      : parts(CeilDivide(count, most)), size(parts == 0 ? 0 : count / parts), larger(parts == 0 ? 0 : count % parts) {}
  int64_t Begin(int64_t i) const { return i * size + std::min(i, larger); }
};

/// One block of the product: its ranges, and the panels it is cut into (rows, and vectors of columns).
template <class Sum, class T>
struct Block {
  int64_t row, rows;
  int64_t column, columns;
  int64_t k, depth;
  int64_t cache_columns;
  Split row_groups;
  Split panels;
  bool pack_rows;
  bool direct_columns;  // whole panels are read where they are; only a ragged last one is packed

  Block(const ProductInput<T>& in, const Blocking& size, int64_t r, int64_t c, int64_t k_begin)
      : row(r),
        rows(std::min(size.rows, in.rows.count - r)),
        column(c),
        columns(std::min(size.columns, in.columns.count - c)),
        k(k_begin),
        depth(std::min(size.depth, in.depth - k_begin)),
        cache_columns(size.cache_columns),
        row_groups(rows, ShapeOf(in).rows),
        panels(CeilDivide(columns, kLanes<T>), ShapeOf(in).vectors),
        pack_rows(in.rows.k_stride != 1 || in.rows.encoding != nullptr),
        direct_columns(in.columns.stride == 1 && in.columns.encoding == nullptr && in.rows.count <= 2 * Sum::kRows) {}

  static TileShape ShapeOf(const ProductInput<T>& in) {
    if (in.skips_zeros) {
      return {PickingRows(in.rows), kTileVectors, kLanes<T>};
    }
    const auto chosen = [](int64_t size, int64_t most) { return size > 0 ? std::min(size, most) : most; };
    return {chosen(in.budget.tile_rows, Sum::kRows), chosen(in.budget.tile_vectors, kTileVectors), kLanes<T>};
  }
  int64_t PanelBegin(int64_t p) const { return panels.Begin(p) * kLanes<T>; }
  int64_t PanelVectors(int64_t p) const { return panels.Begin(p + 1) - panels.Begin(p); }
  TilePlace PlaceOf(int64_t group, int64_t group_end, int64_t p) const {
    const int64_t first = row_groups.Begin(group);
    const int64_t width = PanelVectors(p) * kLanes<T>;
    return {row + first, row_groups.Begin(group_end) - first, column + PanelBegin(p),
            std::min(width, columns - PanelBegin(p)), width};
  }
  bool IsDirect(int64_t p) const { return direct_columns && PanelBegin(p + 1) <= columns; }
  /// Where zeros are left out: of vector v of the columns how many k are not, then which.
  int32_t* PicksOf(const ProductInput<T>& in, int64_t v) const { return in.scratch.picks + v * (depth + 1); }
};

// Packs k in [begin, end) of the rows. Groups of rows are narrower than a cache line of the source, so four
// of them are filled in one walk along k: one at a time, each line was fetched twice, a page apart from the
// next.
template <class Sum, class T>
void PackRows(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t begin, int64_t end) {
  if (in.rows.encoding != nullptr && in.rows.k_stride == 1) {  // row after row, as they are read
    for (int64_t r = 0; begin < end && r < block.rows; ++r) {
      in.rows.Encode(block.row + r, block.k + begin, end - begin, in.scratch.rows + r * block.depth + begin);
    }
    return;
  }
  constexpr int64_t kTogether = 4;
  for (int64_t group = 0; group < block.row_groups.parts; group += kTogether) {
    const int64_t group_end = std::min(group + kTogether, block.row_groups.parts);
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t g = group; g < group_end; ++g) {
        const int64_t first = block.row_groups.Begin(g);
        const int64_t count = block.row_groups.Begin(g + 1) - first;
        T* const to = in.scratch.rows + first * block.depth + k * count;
        if (in.rows.encoding != nullptr) {
          in.rows.Interleave(block.row + first, block.k + k, count, to);
          continue;
        }
        Transform<T>(
            count, to, [](VecOf<T> v) HWY_ATTR { return v; }, in.rows.At(block.row + first, block.k + k));
      }
    }
  }
}

// Vectors of columns one by one, each by one thread, as what is not zero moves together along k.
template <class Sum, class T>
void PackNonzeros(const ProductInput<T>& in, const Block<Sum, T>& block, Team team) {
  const int64_t vectors = CeilDivide(block.columns, kLanes<T>);
  for (int64_t v = team.Begin(vectors); v < team.End(vectors); ++v) {
    const int64_t first = v * kLanes<T>;
    T* const panel = in.scratch.columns + first * block.depth;
    PackPanel(in.columns, block.column + first, std::min(kLanes<T>, block.columns - first), kLanes<T>, block.k,
              block.k + block.depth, panel);
    int32_t* const picks = block.PicksOf(in, v);
    picks[0] = static_cast<int32_t>(PickNonzeros(panel, block.depth, picks + 1));
  }
}

// Packs k in [begin, end) of the columns.
template <class Sum, class T>
void PackPanels(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t begin, int64_t end) {
  for (int64_t p = 0; p < block.panels.parts; ++p) {
    if (block.IsDirect(p)) {
      continue;
    }
    const int64_t first = block.PanelBegin(p);
    const int64_t width = block.PanelVectors(p) * kLanes<T>;
    PackPanel(in.columns, block.column + first, std::min(width, block.columns - first), width, block.k + begin,
              block.k + end, in.scratch.columns + first * block.depth + begin * width);
  }
}

// Each thread packs its part of k.
template <class Sum, class T>
void PackBlock(const ProductInput<T>& in, const Block<Sum, T>& block, Team team) {
  const int64_t begin = team.Begin(block.depth);
  const int64_t end = team.End(block.depth);
  if (in.skips_zeros) {
    PackNonzeros(in, block, team);
  } else {
    PackPanels(in, block, begin, end);
  }
  // Rows of an undivided sum stay packed for all blocks of columns.
  if (block.pack_rows && (block.column == 0 || block.depth < in.depth)) {
    PackRows(in, block, begin, end);
  }
}

// Computes tile (g, p) into `tile` where zeros are left out: vector by vector, each by its list. Apart from
// ComputeTile, so that dense tiles pay nothing.
template <class Sum, class T>
HWY_NOINLINE void ComputeTileOfNonzeros(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t g, int64_t p,
                                        T* tile, bool add) {
  const int64_t first_row = block.row_groups.Begin(g);
  const int64_t rows = block.row_groups.Begin(g + 1) - first_row;
  const int64_t vectors = block.PanelVectors(p);
  TileInput<T> input{};
  input.rows = block.pack_rows ? in.scratch.rows + first_row * block.depth : in.rows.At(block.row + first_row, block.k);
  input.row_stride = block.pack_rows ? 1 : in.rows.stride;
  input.row_k_stride = block.pack_rows ? rows : 1;
  for (int64_t v = 0; v < vectors; ++v) {
    const int64_t column = block.PanelBegin(p) + v * kLanes<T>;
    const int32_t* const picks = block.PicksOf(in, column / kLanes<T>);
    input.columns = in.scratch.columns + column * block.depth;
    input.depth = picks[0];
    input.picks = picks + 1;
    PickingTileFor<Sum, T>(rows)(input, tile + v * kLanes<T>, vectors * kLanes<T>, add);
  }
}

// Computes tile (g, p) into `tile`.
template <class Sum, class T>
void ComputeTile(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t g, int64_t p, T* tile, bool add) {
  const int64_t first_row = block.row_groups.Begin(g);
  const int64_t rows = block.row_groups.Begin(g + 1) - first_row;
  const int64_t vectors = block.PanelVectors(p);
  TileInput<T> input{};
  input.depth = block.depth;
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
  if (block.pack_rows) {
    input.rows = in.scratch.rows + first_row * block.depth;
    const bool by_row = in.rows.encoding != nullptr && in.rows.k_stride == 1;
    input.row_stride = by_row ? block.depth : 1;
    input.row_k_stride = by_row ? 1 : rows;
  } else {
    input.rows = in.rows.At(block.row + first_row, block.k);
    input.row_stride = in.rows.stride;
    input.row_k_stride = in.rows.k_stride;
  }
  if (block.IsDirect(p)) {
    input.columns = in.columns.At(block.column + block.PanelBegin(p), block.k);
    input.column_k_stride = in.columns.k_stride;
  } else {
    input.columns = in.scratch.columns + block.PanelBegin(p) * block.depth;
    input.column_k_stride = vectors * kLanes<T>;
  }
  TileFor<Sum, T>(rows, vectors)(input, tile, add);
}

// A place in the walk over strips of row groups × panels [first, first + panels): row by row, as panels stay
// in the cache; panel by panel where they are read from memory.
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
        const int64_t group = walk.strip * Finish::kRowTiles;
        const int64_t tile_index = walk.strip * block.panels.parts + walk.panel;
        T* tile = split_sum ? in.scratch.partial + tile_index * strip_size : local;
        for (int64_t g = group; g < std::min(group + Finish::kRowTiles, groups); ++g) {
          T* to = tile + (block.row_groups.Begin(g) - block.row_groups.Begin(group)) * at.width;
          if constexpr (Sum::kSkipsZeros) {
            if (in.skips_zeros) {
              ComputeTileOfNonzeros(in, block, g, walk.panel, to, block.k > 0);
              continue;
            }
          }
          ComputeTile(in, block, g, walk.panel, to, block.k > 0);
        }
        if (last) {
          finish(tile, at);
        }
        walk = next;
        at = next_at;
      }
    });
  }
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
        PackBlock(in, block, team);
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
