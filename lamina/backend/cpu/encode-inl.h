// Encodings: how elements of a storage type become the lanes of a panel, and the sums over such lanes. A lane holds one
// widened element, or a group of neighbors along the inputs that one instruction multiplies or compares.
#if defined(LAMINA_BACKEND_CPU_ENCODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ENCODE_INL_H_
#undef LAMINA_BACKEND_CPU_ENCODE_INL_H_
#else
#define LAMINA_BACKEND_CPU_ENCODE_INL_H_
#endif

#include "lamina/backend/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// Elements to floats: to[i] = from[i].
template <class E>
void EncodeHalves(const void* from, int64_t count, float* to, int64_t lanes) {
  const E* source = static_cast<const E*>(from);
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Tag<float> d;
  using Wide = std::conditional_t<std::is_same_v<E, Float16>, hwy::float16_t, hwy::bfloat16_t>;
  const hn::Rebind<Wide, Tag<float>> half;
  for (; i + kLanes<float> <= count; i += kLanes<float>) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const Wide*>(source + i))), d, to + i);
  }
#endif
  for (; i < count; ++i) {
    to[i] = static_cast<float>(source[i]);
  }
  std::fill(to + count, to + lanes, 0.0F);
}

/// Elements to wider integers, one a lane.
template <class E, class T>
void EncodeWide(const void* from, int64_t count, T* to, int64_t lanes) {
  const E* source = static_cast<const E*>(from);
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(source[i]);
  }
  std::fill(to + count, to + lanes, T(0));
}

/// Bytes (or pairs of 16 bits) as they are, several a lane.
template <class T, int kElementBytes>
void EncodeBits(const void* from, int64_t count, T* to, int64_t lanes) {
  const auto bytes = static_cast<size_t>(count * kElementBytes);
  std::memcpy(to, from, bytes);
  std::memset(reinterpret_cast<char*>(to) + bytes, 0, static_cast<size_t>(lanes) * sizeof(T) - bytes);
}

/// Bytes with the highest bit flipped: i8 + 128 as u8, or u8 - 128 as i8. A missing element counts as an encoded 0: it
/// then adds nothing to products with 0 or to differences of two zeros.
template <class T>
void EncodeShifted(const void* from, int64_t count, T* to, int64_t lanes) {
  const auto* source = static_cast<const uint8_t*>(from);
  auto* bytes = reinterpret_cast<uint8_t*>(to);
  for (int64_t i = 0; i < count; ++i) {
    bytes[i] = source[i] ^ 0x80U;
  }
  std::memset(bytes + count, 0, static_cast<size_t>(lanes) * sizeof(T) - static_cast<size_t>(count));
}

/// Elements of 8 bits to pairs of 16 bits.
template <class E>
void EncodePairs(const void* from, int64_t count, int32_t* to, int64_t lanes) {
  const E* source = static_cast<const E*>(from);
  auto* pairs = reinterpret_cast<int16_t*>(to);
  for (int64_t i = 0; i < count; ++i) {
    pairs[i] = static_cast<int16_t>(int{source[i]});
  }
  std::fill(pairs + count, pairs + 2 * lanes, int16_t{0});
}

// Calls fn with the lanes of both vectors in memory: for instruction sets without the instruction.
template <class T, class Fn>
HWY_INLINE VecOf<T> ByLane(VecOf<T> a, VecOf<T> b, const Fn& fn) {
  const Tag<T> d;
  HWY_ALIGN T x[kLanes<T>];
  HWY_ALIGN T y[kLanes<T>];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (int64_t i = 0; i < kLanes<T>; ++i) {
    x[i] = fn(reinterpret_cast<const char*>(x + i), reinterpret_cast<const char*>(y + i));
  }
  return hn::Load(d, x);
}

// Sum over the 8 bytes of each lane of |a - b|.
HWY_INLINE VecOf<int64_t> SadLanes(VecOf<int64_t> a, VecOf<int64_t> b) {
#if HWY_TARGET == HWY_AVX3
  return VecOf<int64_t>{_mm512_sad_epu8(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VecOf<int64_t>{_mm256_sad_epu8(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE2
  return VecOf<int64_t>{_mm_sad_epu8(a.raw, b.raw)};
#elif HWY_TARGET == HWY_NEON
  const uint8x16_t difference = vabdq_u8(vreinterpretq_u8_s64(a.raw), vreinterpretq_u8_s64(b.raw));
  return VecOf<int64_t>{vreinterpretq_s64_u64(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(difference))))};
#else
  return ByLane<int64_t>(a, b, [](const char* x, const char* y) {
    int64_t sum = 0;
    for (int i = 0; i < 8; ++i) {
      sum += std::abs(static_cast<int>(static_cast<uint8_t>(x[i])) - static_cast<int>(static_cast<uint8_t>(y[i])));
    }
    return sum;
  });
#endif
}

// a[0] b[0] + a[1] b[1] of the two 16-bit halves of each lane.
HWY_INLINE VecOf<int32_t> MultiplyPairs(VecOf<int32_t> a, VecOf<int32_t> b) {
#if HWY_TARGET == HWY_AVX3
  return VecOf<int32_t>{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VecOf<int32_t>{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE2
  return VecOf<int32_t>{_mm_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_NEON
  const int16x8_t x = vreinterpretq_s16_s32(a.raw);
  const int16x8_t y = vreinterpretq_s16_s32(b.raw);
  return VecOf<int32_t>{vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y))};
#else
  return ByLane<int32_t>(a, b, [](const char* x, const char* y) {
    int16_t u[2];
    int16_t v[2];
    std::memcpy(u, x, sizeof(u));
    std::memcpy(v, y, sizeof(v));
    return static_cast<int32_t>(u[0]) * v[0] + static_cast<int32_t>(u[1]) * v[1];
  });
#endif
}

// a - b of 16-bit halves.
HWY_INLINE VecOf<int32_t> SubtractPairs(VecOf<int32_t> a, VecOf<int32_t> b) {
#if HWY_TARGET == HWY_SCALAR
  return ByLane<int32_t>(a, b, [](const char* x, const char* y) {
    int16_t u[2];
    int16_t v[2];
    std::memcpy(u, x, sizeof(u));
    std::memcpy(v, y, sizeof(v));
    const int16_t difference[2] = {static_cast<int16_t>(u[0] - v[0]), static_cast<int16_t>(u[1] - v[1])};
    int32_t both = 0;
    std::memcpy(&both, difference, sizeof(both));
    return both;
  });
#else
  const Tag<int16_t> pairs;
  return hn::BitCast(Tag<int32_t>(), hn::Sub(hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
#endif
}

/// What the sums below share: both operands come from panels, all rows of the tile are used.
struct ForwardSum {
  static constexpr bool kReadsOwn = false;
  static constexpr bool kOneOrder = true;
  static constexpr int kReadAnew = 0;
  static constexpr bool kSkipsZeros = false;
  static constexpr int kRows = kTileRows;
};

/// |x - w| of 8 unsigned bytes a lane of 64 bits.
struct SadSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    return hn::Add(sum, SadLanes(row, column));
  }
};

/// x w of 2 numbers of 16 bits a lane of 32.
struct PairProductSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    return hn::Add(sum, MultiplyPairs(row, column));
  }
};

/// (x - w)^2 of 2 numbers of 16 bits, whose differences fit into 16 bits.
struct PairSquareSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    const auto difference = SubtractPairs(row, column);
    return hn::Add(sum, MultiplyPairs(difference, difference));
  }
};

/// |x - w| of widened integers.
struct WideAbsoluteSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    return hn::Add(sum, hn::Abs(hn::Sub(row, column)));
  }
};

// a b of 64-bit lanes; with kHalf both fit into 32 bits.
template <bool kHalf>
HWY_INLINE VecOf<int64_t> MultiplyWide(VecOf<int64_t> a, VecOf<int64_t> b) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kHalf) {
    const Tag<int32_t> halves;
    return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
  }
#endif
  return hn::Mul(a, b);
}

/// x w of integers widened to 64 bits.
template <bool kHalf>
struct WideProductSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    return hn::Add(sum, MultiplyWide<kHalf>(row, column));
  }
};

/// (x - w)^2 of integers widened to 64 bits.
template <bool kHalf>
struct WideSquareSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    const auto difference = hn::Sub(row, column);
    return hn::Add(sum, MultiplyWide<kHalf>(difference, difference));
  }
};

/// max(x, w): the part of Precision::kFast that is done for every pair.
struct MaximumSum : ForwardSum {
  static constexpr int kReadAnew = kMostReadAnew;
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    return Add(MaxVec<T>(column, row), sum);
  }
#if HWY_TARGET == HWY_AVX3
  // See kMostReadAnew; by name, as compilers do not take a broadcast into this instruction.
  template <class T>
  static HWY_INLINE VecOf<T> AccumulateAt(const T* row, VecOf<T> column, VecOf<T> sum) {
    VecOf<T> most;
    if constexpr (sizeof(T) == 4) {
      asm("vmaxps %2%{1to16%}, %1, %0" : "=v"(most.raw) : "v"(column.raw), "m"(*row));
    } else {
      asm("vmaxpd %2%{1to8%}, %1, %0" : "=v"(most.raw) : "v"(column.raw), "m"(*row));
    }
    return Add(most, sum);
  }
#endif

 private:
  template <class V>
  static HWY_INLINE V Add(V most, V sum) {
    return hn::MulAdd(hn::Set(hn::DFromV<V>(), hn::TFromV<V>(1)), most, sum);  // on the multiplier's pipe
  }
};

// Instructions that not every CPU with AVX-512 has, written by name: Highway 1.0 has no target for them. Used only
// where instruction_sets.h finds them.
#if HWY_TARGET == HWY_AVX3
inline constexpr bool kHasQuads = true;

/// x w of 4 numbers of 8 bits a lane of 32: one operand unsigned, the other signed.
template <bool kUnsignedRows>
struct QuadProductSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    const auto u = kUnsignedRows ? row.raw : column.raw;
    const auto s = kUnsignedRows ? column.raw : row.raw;
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(u), "v"(s));
    return sum;
  }
};

/// x w of 2 bfloat16 a lane, summed in f32. Denormal inputs and results count as 0.
struct BFloat16PairSum : ForwardSum {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T>, VecOf<T> sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(row.raw), "v"(column.raw));
    return sum;
  }
};
#else
inline constexpr bool kHasQuads = false;
#endif

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
