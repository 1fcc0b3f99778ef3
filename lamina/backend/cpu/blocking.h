// Block sizes of the packed product and the scratch they need, from the cache sizes of this machine.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lamina::cpu {

/// The register tile of an instruction set: `rows` broadcast values × `vectors` vectors of `lanes`.
struct TileShape {
  int64_t rows = 0;
  int64_t vectors = 0;
  int64_t lanes = 0;

  int64_t columns() const { return vectors * lanes; }
};

/// Limits in elements of one type, and the part of the register tile to use (0: all of it).
struct CacheBudget {
  int64_t column_block = 0;  // packed columns kept in the second-level cache while rows stream past
  int64_t packed = 0;        // packed columns, or partial sums, held at once
  int64_t depth = 0;         // longest sum computed in one go
  int64_t tile_rows = 0;
  int64_t tile_vectors = 0;
};

/// A block: `columns` and `rows` of the result over `depth` terms of the sum; `cache_columns` of them are worked on at
/// a time. Blocks of columns are as large as possible, as threads meet twice a block. With several small blocks, a busy
/// machine spent whole time slices waiting.
struct Blocking {
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t cache_columns = 0;
  int64_t rows = 0;
};

constexpr int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t RoundUp(int64_t a, int64_t b) { return CeilDivide(a, b) * b; }

/// Rows of a block where rows are packed or sums are split, so that scratch stays small. With 2048 rows, packing the
/// columns again for each block costs under 1 %.
inline constexpr int64_t kMaxBlockRows = 2048;

/// Rows of a product whose threads may pack panels of their own, at most.
inline constexpr int64_t kMostOwnRows = 256;

/// Row groups that are finished together, at most.
inline constexpr int64_t kMaxRowTiles = 2;

/// Equal parts of `count`, each at most `limit` (at least `unit`), rounded up to `unit`.
constexpr int64_t EqualParts(int64_t count, int64_t limit, int64_t unit) {
  const int64_t most = std::max(limit / unit, int64_t{1}) * unit;
  const int64_t parts = std::max<int64_t>(1, CeilDivide(count, most));
  return RoundUp(std::max<int64_t>(1, CeilDivide(count, parts)), unit);
}

/// depth_unit: terms of the sum that are taken at once, a block's depth is a multiple of it.
inline Blocking MakeBlocking(int64_t rows, int64_t columns, int64_t depth, TileShape shape, CacheBudget budget,
                             int64_t depth_unit = 1) {
  Blocking block;
  block.depth = EqualParts(depth, budget.depth, depth_unit);
  block.cache_columns = EqualParts(columns, budget.column_block / block.depth, shape.columns());
  block.rows = EqualParts(rows, kMaxBlockRows, kMaxRowTiles * shape.rows);
  // A divided sum also holds the partial sums of its block.
  const int64_t most = block.depth < depth ? std::min(budget.packed / block.depth, budget.packed / block.rows)
                                           : budget.packed / block.depth;
  block.columns = EqualParts(columns, most, shape.columns());
  return block;
}

inline constexpr int64_t kMostPanelsTogether = 8;

/// Panels of the columns that a thread packs and computes with together. Their parts of a result's row lie side by
/// side, and what they are multiplied with is read once. They take an eighth of the second-level cache at most, but for
/// one.
inline int64_t PanelsTogether(int64_t depth, TileShape shape, CacheBudget budget) {
  return std::clamp<int64_t>(budget.column_block / 4 / (shape.columns() * std::max<int64_t>(1, depth)), 1,
                             kMostPanelsTogether);
}

/// Elements of scratch that no product of at most these sizes exceeds, whatever the blocking.
struct ScratchSizes {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t partial = 0;
  int64_t picks = 0;  // numbers of 32 bits: for each vector of columns a count and a list of places in the sum
};

inline ScratchSizes ScratchFor(int64_t rows, int64_t columns, int64_t depth, TileShape shape, CacheBudget budget,
                               int64_t depth_unit = 1) {
  const int64_t tile_columns = shape.columns();
  const int64_t block_rows = RoundUp(std::min(rows, kMaxBlockRows), kMaxRowTiles * shape.rows);
  const int64_t block_depth = RoundUp(std::min(depth, budget.depth), depth_unit);
  ScratchSizes sizes;
  sizes.rows = block_rows * block_depth;
  sizes.columns =
      std::min(RoundUp(columns, tile_columns) * block_depth, std::max(budget.packed, tile_columns * block_depth));
  if (depth > budget.depth) {
    // A tile more each way than there are of full size: smaller ones (CacheBudget::tile_rows) may round up further.
    const int64_t partial_rows = block_rows + kMaxRowTiles * shape.rows;
    const int64_t partial_columns =
        std::min(RoundUp(columns, tile_columns), std::max(tile_columns, budget.packed / block_rows + tile_columns));
    sizes.partial = partial_rows * (partial_columns + tile_columns);
  }
  return sizes;
}

/// Budget for elements of `element_bytes` on this machine.
CacheBudget MachineBudget(int64_t element_bytes);

}  // namespace lamina::cpu
