// Operands rearranged into panels: for each k the values of all rows of the panel side by side. Transposes in
// 4 x 4 (f32) or 2 x 2 (f64) blocks where the sum runs along memory, copies where the rows do.
#if defined(LAMINA_BACKEND_CPU_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_PACK_INL_H_
#undef LAMINA_BACKEND_CPU_PACK_INL_H_
#else
#define LAMINA_BACKEND_CPU_PACK_INL_H_
#endif

#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// One operand of a product, seen as count × depth: element (r, k) at data[r * stride + k * k_stride]. One of
/// the two strides is 1.
template <class T>
struct Operand {
  const T* data;
  int64_t count;
  int64_t stride;
  int64_t k_stride;

  const T* At(int64_t r, int64_t k) const { return data + r * stride + k * k_stride; }
};

#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr int64_t kSide = 1;

template <class T>
HWY_INLINE void TransposeBlock(const T* from, int64_t, T* to, int64_t) {
  *to = *from;
}
#else
// Side of the blocks that TransposeBlock turns: one 128-bit vector.
template <class T>
inline constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T));

/// to[c * to_stride + r] = from[r * from_stride + c] for a kSide × kSide block.
HWY_INLINE void TransposeBlock(const float* HWY_RESTRICT from, int64_t from_stride, float* HWY_RESTRICT to,
                               int64_t to_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> dd;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + from_stride);
  const auto r2 = hn::LoadU(d, from + 2 * from_stride);
  const auto r3 = hn::LoadU(d, from + 3 * from_stride);
  const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1));  // r0[0] r1[0] r0[1] r1[1]
  const auto b = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
  const auto f = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, a, b)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, e, f)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, e, f)), d, to + 3 * to_stride);
}

HWY_INLINE void TransposeBlock(const double* HWY_RESTRICT from, int64_t from_stride, double* HWY_RESTRICT to,
                               int64_t to_stride) {
  const hn::FixedTag<double, 2> d;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + from_stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_stride);
}
#endif

/// to[c * to_stride + r] = from[r * from_stride + c] for rows × cols elements. The side with the longer
/// stride is walked in whole cache lines: with 4096-byte strides its lines share one set of the first-level
/// cache, and walking them a quarter at a time cost the forward pass 15 %.
template <class T>
HWY_NOINLINE void Transpose(const T* HWY_RESTRICT from, int64_t from_stride, int64_t rows, int64_t cols,
                            T* HWY_RESTRICT to, int64_t to_stride) {
  constexpr int64_t kBlock = kSide<T>;
  const int64_t whole_rows = rows / kBlock * kBlock;
  const int64_t whole_cols = cols / kBlock * kBlock;
  if (to_stride > from_stride) {
    for (int64_t c = 0; c < whole_cols; c += kBlock) {
      for (int64_t r = 0; r < whole_rows; r += kBlock) {
        TransposeBlock(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
      }
    }
  } else {
    for (int64_t r = 0; r < whole_rows; r += kBlock) {
      for (int64_t c = 0; c < whole_cols; c += kBlock) {
        TransposeBlock(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) {
      to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
}

/// panel[k * width + r] for rows [begin, begin + count) and k in [k_begin, k_end); zeros in columns [count,
/// width). `panel` is that of k = k_begin.
template <class T>
void PackPanel(const Operand<T>& operand, int64_t begin, int64_t count, int64_t width, int64_t k_begin, int64_t k_end,
               T* HWY_RESTRICT panel) {
  const int64_t depth = k_end - k_begin;
  if (operand.stride == 1) {
    for (int64_t k = 0; k < depth; ++k) {
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
