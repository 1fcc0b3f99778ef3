// Operands rearranged into panels: for each k the values of all rows of the panel side by side. Transposes in
// 4 x 4 (f32) or 2 x 2 (f64) blocks where the sum runs along memory, copies where the rows do.
#if defined(LAMINA_BACKEND_CPU_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_PACK_INL_H_
#undef LAMINA_BACKEND_CPU_PACK_INL_H_
#else
#define LAMINA_BACKEND_CPU_PACK_INL_H_
#endif

#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// One operand of a product, seen as count × depth: element (r, k) at data[r * stride + k * k_stride]. One of
/// the two strides is 1. With an encoding, data and stride are of its storage type and k counts lanes.
template <class T>
struct Operand {
  const T* data;
  int64_t count;
  int64_t stride;
  int64_t k_stride;
  const Encoding<T>* encoding = nullptr;

  const T* At(int64_t r, int64_t k) const { return data + r * stride + k * k_stride; }
  /// Lanes [k, k + lanes) of row r of an encoded operand.
  void Encode(int64_t r, int64_t k, int64_t lanes, T* to) const {
    const int64_t first = k * encoding->group;
    const int64_t count_there = std::min(encoding->length - first, lanes * encoding->group);
    encoding->encode(reinterpret_cast<const char*>(data) + (r * stride + first) * encoding->element_bytes, count_there,
                     to, lanes);
  }
  /// Lanes of rows [r, r + count) at k, where the sum runs across the rows of memory (stride is 1).
  void Interleave(int64_t r, int64_t k, int64_t count, T* to) const {
    const T* const first = At(r, encoding->group * k);
    encoding->interleave(first, encoding->group * k + 1 < encoding->length ? first + k_stride : nullptr, count, to);
  }
};

#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr int64_t kSide = 1;

template <class T>
HWY_INLINE void TransposeBlock(const T* from, int64_t, T* to, int64_t) {
  *to = *from;
}

template <class T>
HWY_INLINE void TransposeSquare(const T* from, int64_t, T* to, int64_t) {
  *to = *from;
}
#else
// Side of the blocks that TransposeBlock turns: one 128-bit vector.
template <class T>
inline constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T));

// Reads 4 rows (of 8-byte lanes: 2) and turns each 4 × 4 (2 × 2) block of 128 bits: block b of out[i] is column b *
// kSide
// + i.
template <class D, class V, class T, std::enable_if_t<sizeof(T) == 4>* = nullptr>
HWY_INLINE void LoadTurned(D d, const T* HWY_RESTRICT from, int64_t stride, V* out) {
  const hn::Repartition<double, D> dd;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride);
  const auto r3 = hn::LoadU(d, from + 3 * stride);
  const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1));  // r0[0] r1[0] r0[1] r1[1]
  const auto b = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
  const auto f = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
  out[0] = hn::BitCast(d, hn::InterleaveLower(dd, a, b));
  out[1] = hn::BitCast(d, hn::InterleaveUpper(dd, a, b));
  out[2] = hn::BitCast(d, hn::InterleaveLower(dd, e, f));
  out[3] = hn::BitCast(d, hn::InterleaveUpper(dd, e, f));
}

template <class D, class V, class T, std::enable_if_t<sizeof(T) == 8>* = nullptr>
HWY_INLINE void LoadTurned(D d, const T* HWY_RESTRICT from, int64_t stride, V* out) {
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + stride);
  out[0] = hn::InterleaveLower(d, r0, r1);
  out[1] = hn::InterleaveUpper(d, r0, r1);
}

/// to[c * to_stride + r] = from[r * from_stride + c] for a kSide × kSide block.
template <class T>
HWY_INLINE void TransposeBlock(const T* HWY_RESTRICT from, int64_t from_stride, T* HWY_RESTRICT to, int64_t to_stride) {
  const hn::FixedTag<T, kSide<T>> d;
  hn::Vec<decltype(d)> turned[kSide<T>];
  LoadTurned(d, from, from_stride, turned);
  HWY_UNROLL(8)
  for (int64_t c = 0; c < kSide<T>; ++c) {
    hn::StoreU(turned[c], d, to + c * to_stride);
  }
}

/// The same for kLanes × kLanes elements: the blocks turned as above, then their 128-bit blocks exchanged
/// between vectors. 112 instructions for 16 × 16 f32, where blocks of 4 × 4 take 256.
template <class T>
HWY_INLINE void TransposeSquare(const T* HWY_RESTRICT from, int64_t from_stride, T* HWY_RESTRICT to,
                                int64_t to_stride) {
  constexpr int64_t kBlocks = kLanes<T> / kSide<T>;
  if constexpr (kBlocks == 2 || kBlocks == 4) {
    const Tag<T> d;
    VecOf<T> turned[kBlocks][kSide<T>];
    HWY_UNROLL(8)
    for (int64_t g = 0; g < kBlocks; ++g) {
      LoadTurned(d, from + g * kSide<T> * from_stride, from_stride, turned[g]);
    }
    HWY_UNROLL(8)
    for (int64_t i = 0; i < kSide<T>; ++i) {
      T* const row = to + i * to_stride;
      const int64_t step = kSide<T> * to_stride;
      if constexpr (kBlocks == 2) {
        hn::StoreU(hn::ConcatLowerLower(d, turned[1][i], turned[0][i]), d, row);
        hn::StoreU(hn::ConcatUpperUpper(d, turned[1][i], turned[0][i]), d, row + step);
      } else {
        // Even blocks of two vectors side by side, and odd ones.
        const auto even0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(turned[1][i]), turned[0][i]);
        const auto even1 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(turned[3][i]), turned[2][i]);
        const auto odd0 = hn::OddEvenBlocks(turned[1][i], hn::SwapAdjacentBlocks(turned[0][i]));
        const auto odd1 = hn::OddEvenBlocks(turned[3][i], hn::SwapAdjacentBlocks(turned[2][i]));
        hn::StoreU(hn::ConcatLowerLower(d, even1, even0), d, row);
        hn::StoreU(hn::ConcatLowerLower(d, odd1, odd0), d, row + step);
        hn::StoreU(hn::ConcatUpperUpper(d, even1, even0), d, row + 2 * step);
        hn::StoreU(hn::ConcatUpperUpper(d, odd1, odd0), d, row + 3 * step);
      }
    }
  } else {
    TransposeBlock(from, from_stride, to, to_stride);
  }
}
#endif

// Squares of kSize over rows × cols, multiples of kSize. The side with the longer stride is walked in whole cache
// lines. With 4096-byte strides its lines share one set of the first-level cache; walking a quarter at a time cost the
// forward pass 15 %.
template <int64_t kSize, class T>
HWY_INLINE void TransposeTiled(const T* HWY_RESTRICT from, int64_t from_stride, int64_t rows, int64_t cols,
                               T* HWY_RESTRICT to, int64_t to_stride) {
  const bool rows_inside = to_stride > from_stride;
  const int64_t outer_end = rows_inside ? cols : rows;
  const int64_t inner_end = rows_inside ? rows : cols;
  for (int64_t outer = 0; outer < outer_end; outer += kSize) {
    for (int64_t inner = 0; inner < inner_end; inner += kSize) {
      const int64_t r = rows_inside ? inner : outer;
      const int64_t c = rows_inside ? outer : inner;
      if constexpr (kSize == kLanes<T>) {
        TransposeSquare(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
      } else {
        TransposeBlock(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
      }
    }
  }
}

/// to[c * to_stride + r] = from[r * from_stride + c] for rows × cols elements.
template <class T>
HWY_NOINLINE void Transpose(const T* HWY_RESTRICT from, int64_t from_stride, int64_t rows, int64_t cols,
                            T* HWY_RESTRICT to, int64_t to_stride) {
  const int64_t square_rows = rows / kLanes<T> * kLanes<T>;
  const int64_t square_cols = cols / kLanes<T> * kLanes<T>;
  const int64_t whole_rows = rows / kSide<T> * kSide<T>;
  const int64_t whole_cols = cols / kSide<T> * kSide<T>;
  TransposeTiled<kLanes<T>>(from, from_stride, square_rows, square_cols, to, to_stride);
  TransposeTiled<kSide<T>>(from + square_cols, from_stride, square_rows, whole_cols - square_cols,
                           to + square_cols * to_stride, to_stride);
  TransposeTiled<kSide<T>>(from + square_rows * from_stride, from_stride, whole_rows - square_rows, whole_cols,
                           to + square_rows, to_stride);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) {
      to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
}

// PackPanel for an encoded operand: a few lanes of a vector's worth of rows at a time are encoded, then turned.
template <class T>
void PackEncoded(const Operand<T>& operand, int64_t begin, int64_t count, int64_t width, int64_t k_begin, int64_t k_end,
                 T* HWY_RESTRICT panel) {
  constexpr int64_t kChunk = 64;
  HWY_ALIGN T encoded[kLanes<T> * kChunk];
  for (int64_t r = 0; r < count; r += kLanes<T>) {
    const int64_t rows = std::min(kLanes<T>, count - r);
    for (int64_t k = k_begin; k < k_end; k += kChunk) {
      const int64_t lanes = std::min(kChunk, k_end - k);
      for (int64_t i = 0; i < rows; ++i) {
        operand.Encode(begin + r + i, k, lanes, encoded + i * kChunk);
      }
      Transpose(encoded, kChunk, rows, lanes, panel + (k - k_begin) * width + r, width);
    }
  }
}

/// panel[k * width + r] for rows [begin, begin + count) and k in [k_begin, k_end); zeros in columns [count,
/// width). `panel` is that of k = k_begin.
template <class T>
void PackPanel(const Operand<T>& operand, int64_t begin, int64_t count, int64_t width, int64_t k_begin, int64_t k_end,
               T* HWY_RESTRICT panel) {
  const int64_t depth = k_end - k_begin;
  if (operand.encoding != nullptr && operand.k_stride == 1) {
    PackEncoded(operand, begin, count, width, k_begin, k_end, panel);
  } else if (operand.encoding != nullptr) {
    for (int64_t k = 0; k < depth; ++k) {
      operand.Interleave(begin, k_begin + k, count, panel + k * width);
    }
  } else if (operand.stride == 1) {
    constexpr int64_t kAhead = 16;  // a row of columns is a page from the next: no stream for the processor to see
    for (int64_t k = 0; k < depth; ++k) {
      const T* const ahead = operand.At(begin, k_begin + std::min(k + kAhead, depth - 1));
      const auto before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(ahead) % 64 / sizeof(T));
      const int64_t lines = CeilDivide(before + count, kLineElements<T>);
      for (int64_t i = 0; i < lines; ++i) {
        __builtin_prefetch(ahead + std::min(i * kLineElements<T>, count - 1));
      }
      Transform<T>(
          count, panel + k * width, [](auto v) { return v; }, operand.At(begin, k_begin + k));
    }
  } else {
    Transpose(operand.At(begin, k_begin), operand.stride, count, depth, panel, width);
  }
  if (count < width) {
    for (int64_t k = 0; k < depth; ++k) {
      std::memset(panel + k * width + count, 0, static_cast<size_t>(width - count) * sizeof(T));
    }
  }
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
