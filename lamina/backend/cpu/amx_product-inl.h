// The blocked product on AMX tiles. Operands are packed to whole tiles, with zeros where they end. Blocks have up to 32
// x 32 sums, finished as those of product-inl.h are.
#if defined(LAMINA_BACKEND_CPU_AMX_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_AMX_PRODUCT_INL_H_
#undef LAMINA_BACKEND_CPU_AMX_PRODUCT_INL_H_
#else
#define LAMINA_BACKEND_CPU_AMX_PRODUCT_INL_H_
#endif

#include "lamina/backend/cpu/amx_tile-inl.h"
#include "lamina/backend/cpu/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// An operand whose lanes are groups as the instruction takes them.
template <class T>
struct AmxOperand {
  Operand<T> operand;        // its encoding is that of the first part
  const Encoding<T>* parts;  // an encoding for each

  Operand<T> Part(int p) const {
    Operand<T> part = operand;
    part.encoding = parts + p;
    return part;
  }
};

template <class T>
struct AmxProductInput {
  AmxOperand<T> rows;
  AmxOperand<T> columns;
  int64_t depth;  // in lanes
  Scratch<T> scratch;
  CacheBudget budget;
};

/// One block of the product, as packed: its ranges, and the steps of its sums.
template <class Tiles, class T = typename Tiles::Lane>
struct PackedBlock {
  int64_t row, rows;
  int64_t column, columns;
  int64_t k, depth;  // lanes; whole tiles but for the end
  int64_t steps;

  PackedBlock(const AmxProductInput<T>& in, const Blocking& size, int64_t r, int64_t c, int64_t k_begin)
      : row(r),
        rows(std::min(size.rows, in.rows.operand.count - r)),
        column(c),
        columns(std::min(size.columns, in.columns.operand.count - c)),
        k(k_begin),
        depth(std::min(size.depth, in.depth - k_begin)),
        steps(CeilDivide(depth, kAmxSide)) {}

  int64_t part_size() const { return steps * kTileElements; }
  int64_t group_size() const { return kParts<Tiles> * part_size(); }
};

// Rows [first, first + count) of an operand, lanes [k, k_end), as tiles of 16 lanes of each row.
template <class T>
void PackRowTiles(const Operand<T>& operand, int64_t first, int64_t count, int64_t k, int64_t k_end, T* to) {
  constexpr int64_t kSteps = 4;  // encoded at once
  HWY_ALIGN T lanes[kSteps * kTileElements];
  for (; k < k_end; k += kSteps * kAmxSide, to += kSteps * kTileElements) {
    const int64_t there = std::min(kSteps * kAmxSide, k_end - k);
    const int64_t steps = CeilDivide(there, kAmxSide);
    if (operand.k_stride != 1) {  // lanes lie side by side for the rows: a tile is turned
      PackPanel(operand, first, count, kAmxSide, k, k + there, lanes);
      std::fill(lanes + there * kAmxSide, lanes + steps * kTileElements, T(0));
      for (int64_t s = 0; s < steps; ++s) {
        TransposeSquare(lanes + s * kTileElements, kAmxSide, to + s * kTileElements, kAmxSide);
      }
      continue;
    }
    for (int64_t r = 0; r < kAmxSide; ++r) {
      if (r < count) {
        operand.Encode(first + r, k, there, lanes);
      }
      std::fill(lanes + (r < count ? there : 0), lanes + steps * kAmxSide, T(0));
      for (int64_t s = 0; s < steps; ++s) {
        std::memcpy(to + s * kTileElements + r * kAmxSide, lanes + s * kAmxSide, kAmxRowBytes);
      }
    }
  }
}

// Columns [first, first + count), lanes [k, k_end), as tiles of 16 lanes, each of all columns.
template <class T>
void PackColumnTiles(const Operand<T>& operand, int64_t first, int64_t count, int64_t k, int64_t k_end, T* to) {
  PackPanel(operand, first, count, kAmxSide, k, k_end, to);
  const int64_t lanes = k_end - k;
  std::fill(to + lanes * kAmxSide, to + RoundUp(lanes, kAmxSide) * kAmxSide, T(0));
}

// Each thread packs its part of the steps.
template <class Tiles, class T>
void PackTiles(const AmxProductInput<T>& in, const PackedBlock<Tiles>& block, Team team) {
  const int64_t step = team.Begin(block.steps);
  const int64_t k = block.k + step * kAmxSide;
  const int64_t k_end = block.k + std::min(team.End(block.steps) * kAmxSide, block.depth);
  if (k >= k_end) {
    return;
  }
  // Rows of an undivided sum stay packed for all blocks of columns.
  const bool packs_rows = block.column == 0 || block.depth < in.depth;
  for (int part = 0; part < kParts<Tiles>; ++part) {
    const int64_t offset = part * block.part_size() + step * kTileElements;
    for (int64_t c = 0; c < block.columns; c += kAmxSide) {
      PackColumnTiles(in.columns.Part(part), block.column + c, std::min(kAmxSide, block.columns - c), k, k_end,
                      in.scratch.columns + c / kAmxSide * block.group_size() + offset);
    }
    for (int64_t r = 0; packs_rows && r < block.rows; r += kAmxSide) {
      PackRowTiles(in.rows.Part(part), block.row + r, std::min(kAmxSide, block.rows - r), k, k_end,
                   in.scratch.rows + r / kAmxSide * block.group_size() + offset);
    }
  }
}

// Finishes a block of sums, a tile's height at a time: no more than other kernels' finishes get.
template <class T, class Finish>
void FinishBlock(const Finish& finish, T* sums, TilePlace at) {
  static_assert(kAmxSide <= 2 * kTileRows);
  const int64_t end = at.row + at.rows;
  for (; at.row < end; at.row += kAmxSide, sums += kAmxSide * at.width) {
    at.rows = std::min(kAmxSide, end - at.row);
    finish(sums, at);
  }
}

// Blocks of sums of this thread: row by row over as many columns as stay in the cache.
template <class Tiles, class T, class Finish>
void ComputeTiles(const AmxProductInput<T>& in, const PackedBlock<Tiles>& block, int64_t cache_columns,
                  const Finish& finish, Team team) {
  constexpr int64_t kSide = 2 * kAmxSide;
  HWY_ALIGN T local[kSide * kSide];
  const bool split_sum = block.depth < in.depth;
  const bool last = block.k + block.depth >= in.depth;
  const int64_t strips = CeilDivide(block.rows, kSide);
  const int64_t all_panels = CeilDivide(block.columns, kSide);
  const int64_t most = std::max<int64_t>(1, cache_columns / kSide);
  for (int64_t first = 0; first < all_panels; first += most) {
    const int64_t panels = std::min(most, all_panels - first);
    team.Share(strips * panels, static_cast<int>(first / most), [&](int64_t begin, int64_t end) HWY_ATTR {
      for (int64_t t = begin; t < end && !Abandoned(); ++t) {
        const int64_t strip = t / panels;
        const int64_t panel = first + t % panels;
        TilePlace at{block.row + strip * kSide, std::min(kSide, block.rows - strip * kSide),
                     block.column + panel * kSide, std::min(kSide, block.columns - panel * kSide), 0};
        at.width = RoundUp(at.columns, kAmxSide);
        if (last) {
          finish.Prefetch(at);
        }
        const AmxInput<T> input{in.scratch.rows + 2 * strip * block.group_size(),
                                in.scratch.columns + 2 * panel * block.group_size(), block.steps};
        T* sums = split_sum ? in.scratch.partial + (strip * all_panels + panel) * kSide * kSide : local;
        AmxBlockFor<Tiles>(CeilDivide(at.rows, kAmxSide), at.width / kAmxSide)(input, sums, block.k > 0);
        if (last) {
          FinishBlock(finish, sums, at);
        }
      }
    });
  }
}

/// Whole-team call. The sum of an element does not depend on the threads.
template <class Tiles, class T, class Finish>
void AmxProduct(const AmxProductInput<T>& in, const Finish& finish, Team team) {
  CacheBudget budget = in.budget;
  budget.column_block /= kParts<Tiles>;
  const Blocking size =
      MakeBlocking(in.rows.operand.count, in.columns.operand.count, in.depth, kAmxShape, budget, kAmxSide);
  const TilesInUse tiles;
  bool packed_before = false;
  for (int64_t r = 0; r < in.rows.operand.count; r += size.rows) {
    for (int64_t c = 0; c < in.columns.operand.count; c += size.columns) {
      int64_t k = 0;
      do {  // once for an empty sum, too
        const PackedBlock<Tiles> block(in, size, r, c, k);
        if (packed_before) {
          team.Barrier();  // everybody is done with the tiles
        }
        packed_before = true;
        if (!Abandoned()) {
          PackTiles(in, block, team);
        }
        team.Barrier();
        ComputeTiles(in, block, size.cache_columns, finish, team);
        k += size.depth;
      } while (k < in.depth);
    }
  }
}

#endif

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
