// A block of the product: which part of the operands it is, the panels that it is cut into, and their packing.
#if defined(LAMINA_BACKEND_CPU_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_BLOCK_INL_H_
#undef LAMINA_BACKEND_CPU_BLOCK_INL_H_
#else
#define LAMINA_BACKEND_CPU_BLOCK_INL_H_
#endif

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
  int64_t size_at_most() const { return larger > 0 ? size + 1 : size; }
};

/// So many rows read columns where they are: packing these would take as long as computing with them.
template <class Sum>
inline constexpr int64_t kDirectRows = std::max<int64_t>(2 * Sum::kRows, 16);

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
  bool direct_columns;      // whole panels are read where they are; only a ragged last one is packed
  bool asks_ahead;          // rows come from beyond the second-level cache, and the next ones lie behind them
  T* own_panels = nullptr;  // the place of panels from first_panel on; null: all have theirs in the scratch
  int64_t first_panel = 0;

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
        pack_rows(PacksRows(in)),
        direct_columns(in.columns.stride == 1 && in.columns.encoding == nullptr && in.rows.count <= kDirectRows<Sum>),
        asks_ahead(!pack_rows && in.rows.stride == depth && in.rows.count * depth > in.budget.column_block) {}

  /// Rows that lie side by side may be read where they are, k by k, but not by lists. They must be in the second-level
  /// cache, and not all in one or two sets of the first.
  static bool PacksRows(const ProductInput<T>& in) {
    const bool side_by_side = in.rows.stride == 1 && in.rows.k_stride * static_cast<int64_t>(sizeof(T)) % 2048 != 0 &&
                              in.rows.k_stride * in.depth <= in.budget.column_block / 2;
    return in.rows.encoding != nullptr || (in.rows.k_stride != 1 && (in.skips_zeros || !side_by_side));
  }
  static TileShape ShapeOf(const ProductInput<T>& in) {
    if (in.skips_zeros) {
      return {PickingRows(in.rows), kTileVectors, kLanes<T>};
    }
    const auto chosen = [](int64_t size, int64_t most) { return size > 0 ? std::min(size, most) : most; };
    return {chosen(in.budget.tile_rows, Sum::kRows), chosen(in.budget.tile_vectors, kTileVectors), kLanes<T>};
  }
  int64_t PanelBegin(int64_t p) const { return panels.Begin(p) * kLanes<T>; }
  int64_t PanelVectors(int64_t p) const { return panels.Begin(p + 1) - panels.Begin(p); }
  T* PanelData(const ProductInput<T>& in, int64_t p) const {
    return own_panels != nullptr ? own_panels + (PanelBegin(p) - PanelBegin(first_panel)) * depth
                                 : in.scratch.columns + PanelBegin(p) * depth;
  }
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

// Packs k in [begin, end) of row groups [group_begin, group_end). A group is narrower than a cache line of the source,
// so one walk along k fills four groups. One group at a time fetched each line twice, a page apart from the next.
// Sixteen k, and so as many pages, go through all groups before the next sixteen. Walking all of k visited each page
// anew for every four groups: 9 % of a weight gradient of 1,024 samples.
template <class Sum, class T>
void PackRowGroups(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t group_begin, int64_t group_end,
                   int64_t begin, int64_t end) {
  if (in.rows.encoding != nullptr && in.rows.k_stride == 1) {  // row after row, as they are read
    const int64_t row_end = block.row_groups.Begin(group_end);
    for (int64_t r = block.row_groups.Begin(group_begin); begin < end && r < row_end; ++r) {
      in.rows.Encode(block.row + r, block.k + begin, end - begin, in.scratch.rows + r * block.depth + begin);
    }
    return;
  }
  constexpr int64_t kTogether = 4;
  constexpr int64_t kPages = 16;
  for (int64_t k_begin = begin; k_begin < end; k_begin += kPages) {
    const int64_t k_end = std::min(k_begin + kPages, end);
    for (int64_t group = group_begin; group < group_end; group += kTogether) {
      const int64_t together_end = std::min(group + kTogether, group_end);
      for (int64_t k = k_begin; k < k_end; ++k) {
        for (int64_t g = group; g < together_end; ++g) {
          const int64_t first = block.row_groups.Begin(g);
          const int64_t count = block.row_groups.Begin(g + 1) - first;
          T* const to = in.scratch.rows + first * block.depth + k * count;
          if (in.rows.encoding != nullptr) {
            in.rows.Interleave(block.row + first, block.k + k, count, to);
            continue;
          }
          CopyFew(in.rows.At(block.row + first, block.k + k), count, to);
        }
      }
    }
  }
}

// This thread's part of the rows: those that it will compute with, but for a few; of few groups a part of k.
template <class Sum, class T>
HWY_NOINLINE void PackRows(const ProductInput<T>& in, const Block<Sum, T>& block, Team team) {
  const int64_t groups = block.row_groups.parts;
  if (groups >= 4 * team.size) {
    PackRowGroups(in, block, team.Begin(groups), team.End(groups), 0, block.depth);
  } else {
    PackRowGroups(in, block, 0, groups, team.Begin(block.depth), team.End(block.depth));
  }
}

// Vectors of columns one by one, each by one thread, as what is not zero moves together along k.
template <class Sum, class T>
HWY_NOINLINE void PackNonzeros(const ProductInput<T>& in, const Block<Sum, T>& block, Team team) {
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

// Packs k in [begin, end) of panel p of the columns.
template <class Sum, class T>
HWY_NOINLINE void PackPanelOf(const ProductInput<T>& in, const Block<Sum, T>& block, int64_t p, int64_t begin,
                              int64_t end) {
  const int64_t first = block.PanelBegin(p);
  const int64_t width = block.PanelVectors(p) * kLanes<T>;
  PackPanel(in.columns, block.column + first, std::min(width, block.columns - first), width, block.k + begin,
            block.k + end, block.PanelData(in, p) + begin * width);
}

// Each thread packs its part of k.
template <class Sum, class T>
void PackBlock(const ProductInput<T>& in, const Block<Sum, T>& block, Team team) {
  const int64_t begin = team.Begin(block.depth);
  const int64_t end = team.End(block.depth);
  if (in.skips_zeros) {
    PackNonzeros(in, block, team);
  } else {
    for (int64_t p = 0; p < block.panels.parts; ++p) {
      if (!block.IsDirect(p)) {
        PackPanelOf(in, block, p, begin, end);
      }
    }
  }
  // Rows of an undivided sum stay packed for all blocks of columns.
  if (block.pack_rows && (block.column == 0 || block.depth < in.depth)) {
    PackRows(in, block, team);
  }
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
