// Register tiles over panels of 32 rows. Both operands and the result have the same form, so that nothing is packed.
#if defined(LAMINA_BACKEND_CPU_FACTOR_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_FACTOR_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_FACTOR_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_FACTOR_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "lamina/backend/cpu/factor_kernels.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// The size of a register tile: vectors of rows, and columns. With 16 registers there are fewer columns.
inline constexpr int64_t kTileVectors = 2;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE2
inline constexpr int64_t kTileCols = 4;
#else
inline constexpr int64_t kTileCols = 8;
#endif

template <class T>
inline constexpr int64_t kPanelVectors = kPanelRows / kLanes<T>;

// What a tile's sums start with, and whether products are added or taken off.
enum class TileUse { kSubtract, kProduct };

// Element (k, j) of b is at k * kStepK + j * kStepJ.
template <class T, TileUse kUse, int64_t kStepK = kPanelRows, int64_t kStepJ = 1>
HWY_INLINE void FactorTile(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* c, int64_t depth) {
  const Tag<T> d;
  constexpr int64_t kL = kLanes<T>;
  VecOf<T> sums[kTileVectors][kTileCols];
  for (int64_t v = 0; v < kTileVectors; ++v) {
    for (int64_t j = 0; j < kTileCols; ++j) {
      sums[v][j] = kUse == TileUse::kSubtract ? hn::LoadU(d, c + j * kPanelRows + v * kL) : hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    VecOf<T> rows[kTileVectors];
    for (int64_t v = 0; v < kTileVectors; ++v) {
      rows[v] = hn::LoadU(d, a + k * kPanelRows + v * kL);
    }
    for (int64_t j = 0; j < kTileCols; ++j) {
      const VecOf<T> column = hn::Set(d, b[k * kStepK + j * kStepJ]);
      for (int64_t v = 0; v < kTileVectors; ++v) {
        sums[v][j] = kUse == TileUse::kSubtract ? hn::NegMulAdd(rows[v], column, sums[v][j])
                                                : hn::MulAdd(rows[v], column, sums[v][j]);
      }
    }
  }
  for (int64_t v = 0; v < kTileVectors; ++v) {
    for (int64_t j = 0; j < kTileCols; ++j) {
      hn::StoreU(sums[v][j], d, c + j * kPanelRows + v * kL);
    }
  }
}

template <class T>
void Update(const T* a, const T* b, T* c, int64_t depth) noexcept {
  constexpr int64_t kRows = kTileVectors * kLanes<T>;
  for (int64_t r = 0; r < kPanelRows; r += kRows) {
    for (int64_t j = 0; j < kPanelRows; j += kTileCols) {
      FactorTile<T, TileUse::kSubtract>(a + r, b + j, c + j * kPanelRows + r, depth);
    }
  }
}

template <class T>
void UpdateTurned(const T* a, const T* b, T* c) noexcept {
  constexpr int64_t kRows = kTileVectors * kLanes<T>;
  for (int64_t r = 0; r < kPanelRows; r += kRows) {
    for (int64_t j = 0; j < kPanelRows; j += kTileCols) {
      FactorTile<T, TileUse::kSubtract, 1, kPanelRows>(a + r, b + j * kPanelRows, c + j * kPanelRows + r, kPanelRows);
    }
  }
}

// The last columns first: what they are made of is still there.
template <class T>
void TimesInverse(T* c, const T* inverse) noexcept {
  constexpr int64_t kRows = kTileVectors * kLanes<T>;
  for (int64_t r = 0; r < kPanelRows; r += kRows) {
    for (int64_t j = kPanelRows - kTileCols; j >= 0; j -= kTileCols) {
      FactorTile<T, TileUse::kProduct>(c + r, inverse + j, c + j * kPanelRows + r, j + kTileCols);
    }
  }
}

// Columns from j on of the product need columns from j on: the first ones first.
template <class T>
void TimesInverseTurned(T* c, const T* inverse) noexcept {
  constexpr int64_t kRows = kTileVectors * kLanes<T>;
  for (int64_t r = 0; r < kPanelRows; r += kRows) {
    for (int64_t j = 0; j < kPanelRows; j += kTileCols) {
      FactorTile<T, TileUse::kProduct, 1, kPanelRows>(c + j * kPanelRows + r, inverse + j * kPanelRows + j,
                                                      c + j * kPanelRows + r, kPanelRows - j);
    }
  }
}

// Column k of `block` less column j times its element (k, j of `factor`).
template <class T>
HWY_INLINE void SubtractColumn(const VecOf<T>* column, T element, T* HWY_RESTRICT of) {
  const Tag<T> d;
  const VecOf<T> factor = hn::Set(d, element);
  for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
    T* const at = of + v * kLanes<T>;
    hn::StoreU(hn::NegMulAdd(column[v], factor, hn::LoadU(d, at)), d, at);
  }
}

// Column by column, the unit matrix below the block: what becomes of it is the inverse turned.
template <class T>
bool Factor(T* block, T* inverse, T least) noexcept {
  const Tag<T> d;
  HWY_ALIGN T turned[kPanelRows * kPanelRows] = {};
  for (int64_t i = 0; i < kPanelRows; ++i) {
    turned[i * kPanelRows + i] = T(1);
  }
  for (int64_t j = 0; j < kPanelRows; ++j) {
    T* const own = block + j * kPanelRows;
    const T pivot = own[j];
    if (!(pivot > least) || !std::isfinite(pivot)) {
      return false;
    }
    const T root = std::sqrt(pivot);
    const VecOf<T> by = hn::Set(d, T(1) / root);
    std::fill_n(own, j, T(0));
    VecOf<T> column[kPanelVectors<T>];
    VecOf<T> of_unit[kPanelVectors<T>];
    for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
      column[v] = hn::Mul(hn::LoadU(d, own + v * kLanes<T>), by);
      hn::StoreU(column[v], d, own + v * kLanes<T>);
      T* const unit = turned + j * kPanelRows + v * kLanes<T>;
      of_unit[v] = hn::Mul(hn::LoadU(d, unit), by);
      hn::StoreU(of_unit[v], d, unit);
    }
    own[j] = root;
    for (int64_t k = j + 1; k < kPanelRows; ++k) {
      SubtractColumn<T>(column, own[k], block + k * kPanelRows);
      SubtractColumn<T>(of_unit, own[k], turned + k * kPanelRows);
    }
  }
  for (int64_t i = 0; i < kPanelRows; ++i) {
    for (int64_t j = 0; j < kPanelRows; ++j) {
      inverse[j * kPanelRows + i] = turned[i * kPanelRows + j];
    }
  }
  return true;
}

template <class T>
void SubtractRows(const T* panel, int64_t columns, const T* x, int64_t x_step, T* sums) noexcept {
  const Tag<T> d;
  VecOf<T> of_rows[kPanelVectors<T>];
  for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
    of_rows[v] = hn::LoadU(d, sums + v * kLanes<T>);
  }
  for (int64_t c = 0; c < columns; ++c) {
    const VecOf<T> factor = hn::Set(d, x[c * x_step]);
    for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
      of_rows[v] = hn::NegMulAdd(hn::LoadU(d, panel + c * kPanelRows + v * kLanes<T>), factor, of_rows[v]);
    }
  }
  for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
    hn::StoreU(of_rows[v], d, sums + v * kLanes<T>);
  }
}

template <class T>
void SubtractColumns(const T* panel, int64_t columns, const T* alpha, T* x, int64_t x_step) noexcept {
  const Tag<T> d;
  for (int64_t c = 0; c < columns; ++c) {
    VecOf<T> sum = hn::Zero(d);
    for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
      sum = hn::MulAdd(hn::LoadU(d, panel + c * kPanelRows + v * kLanes<T>), hn::LoadU(d, alpha + v * kLanes<T>), sum);
    }
    x[c * x_step] -= hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

template <class T>
void Squares(const T* panel, int64_t columns, T* sums) noexcept {
  const Tag<T> d;
  VecOf<T> of_rows[kPanelVectors<T>];
  for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
    of_rows[v] = hn::Zero(d);
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
      const VecOf<T> element = hn::LoadU(d, panel + c * kPanelRows + v * kLanes<T>);
      of_rows[v] = hn::MulAdd(element, element, of_rows[v]);
    }
  }
  for (int64_t v = 0; v < kPanelVectors<T>; ++v) {
    hn::StoreU(of_rows[v], d, sums + v * kLanes<T>);
  }
}

template <class T>
inline constexpr FactorTable<T> kFactorTable = {
    &Update<T>,       &UpdateTurned<T>,    &Factor<T>, &TimesInverse<T>, &TimesInverseTurned<T>,
    &SubtractRows<T>, &SubtractColumns<T>, &Squares<T>};

const FactorTable<float>& FactorTableF32() { return kFactorTable<float>; }
const FactorTable<double>& FactorTableF64() { return kFactorTable<double>; }

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
