// How the weights of each type, and distances, are added to the sums of a row.
#if defined(LAMINA_BACKEND_CPU_ROW_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ROW_WEIGHTS_INL_H_
#undef LAMINA_BACKEND_CPU_ROW_WEIGHTS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ROW_WEIGHTS_INL_H_
#endif

#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// sums[r] += x of row r * ws.
template <class T, int kRows, int kVectors>
HWY_INLINE void AddProducts(const VecOf<T> (&ws)[kVectors], const T* x, int64_t stride,
                            VecOf<T> (&sums)[kRows][kVectors]) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    const auto xs = hn::Set(Tag<T>(), x[r * stride]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::MulAdd(xs, ws[v], sums[r][v]);
    }
  }
}

// Weights of a type in panels: sums of T, and how a group of inputs is added to kVectors of them. AddToRows() does so
// for the sums of several rows, `stride` numbers apart, each in the same order.
template <class T>
struct RowWeightsAsTheyAre {
  using Number = T;
  using Element = T;
  static constexpr int64_t kGroup = 1;

  template <int kRows, int kVectors>
  static HWY_INLINE void AddToRows(const Element* w, const T* x, int64_t stride, VecOf<T> (&sums)[kRows][kVectors]) {
    const Tag<T> d;
    VecOf<T> ws[kVectors];
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      ws[v] = hn::LoadU(d, w + v * kLanes<T>);
    }
    AddProducts<T>(ws, x, stride, sums);
  }

  template <int kVectors>
  static HWY_INLINE void Add(const Element* w, const T* x, VecOf<T>* sums) {
    const Tag<T> d;
    const auto xs = hn::Set(d, x[0]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = hn::MulAdd(xs, hn::LoadU(d, w + v * kLanes<T>), sums[v]);
    }
  }
};

// Distances of centers: sums of |x - w| or of its square.
template <class T, bool kSquare, bool kOfRoot = false>
struct RowDistances {
  using Number = T;
  using Element = T;
  static constexpr int64_t kGroup = 1;
  static constexpr bool kRoot = kOfRoot;

  template <int kVectors>
  static HWY_INLINE void Add(const Element* w, const T* x, VecOf<T>* sums) {
    const Tag<T> d;
    const auto xs = hn::Set(d, x[0]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      const auto apart = hn::Sub(xs, hn::LoadU(d, w + v * kLanes<T>));
      sums[v] = kSquare ? hn::MulAdd(apart, apart, sums[v]) : hn::Add(sums[v], hn::Abs(apart));
    }
  }
};

template <class Weights>
concept HasRoot = Weights::kRoot;

// bf16 of two inputs in a lane: each half is the upper half of an f32.
struct RowWeightsBF16 {
  using Number = float;
  using Element = uint16_t;
  static constexpr int64_t kGroup = 2;

  template <int kRows, int kVectors>
  static HWY_INLINE void AddToRows(const Element* w, const float* x, int64_t stride,
                                   VecOf<float> (&sums)[kRows][kVectors]) {
    const Tag<float> d;
    const Tag<uint32_t> bits;
    VecOf<float> ws[kVectors];
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      ws[v] =
          hn::BitCast(d, hn::ShiftLeft<16>(hn::LoadU(bits, reinterpret_cast<const uint32_t*>(w) + v * kLanes<float>)));
    }
    AddProducts<float>(ws, x, stride, sums);
    asm("" : "+r"(w));  // read again: with both halves at once the sums would not stay in registers
    const auto upper = hn::Set(bits, 0xFFFF0000U);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      ws[v] = hn::BitCast(d, hn::And(hn::LoadU(bits, reinterpret_cast<const uint32_t*>(w) + v * kLanes<float>), upper));
    }
    AddProducts<float>(ws, x + 1, stride, sums);
  }

  template <int kVectors>
  static HWY_INLINE void Add(const Element* w, const float* x, VecOf<float>* sums) {
    const Tag<float> d;
    const Tag<uint32_t> bits;
    const auto first = hn::Set(d, x[0]);
    const auto second = hn::Set(d, x[1]);
    const auto upper = hn::Set(bits, 0xFFFF0000U);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      const auto both = hn::LoadU(bits, reinterpret_cast<const uint32_t*>(w) + v * kLanes<float>);
      sums[v] = hn::MulAdd(first, hn::BitCast(d, hn::ShiftLeft<16>(both)), sums[v]);
      sums[v] = hn::MulAdd(second, hn::BitCast(d, hn::And(both, upper)), sums[v]);
    }
  }
};

struct WidenBF16 {
  using Element = uint16_t;
  static HWY_INLINE VecOf<float> Load(const Element* w) {
    const Tag<float> d;
    const hn::Rebind<uint16_t, Tag<float>> half;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(Tag<uint32_t>(), hn::LoadU(half, w))));
  }
};

struct WidenF16 {
  using Element = uint16_t;
  static HWY_INLINE VecOf<float> Load(const Element* w) {
    const hn::Rebind<hwy::float16_t, Tag<float>> half;
    return hn::PromoteTo(Tag<float>(), hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(w)));
  }
};

struct WidenI8 {
  using Element = int8_t;
  static HWY_INLINE VecOf<float> Load(const Element* w) {
    const hn::Rebind<int8_t, Tag<float>> byte;
    return hn::ConvertTo(Tag<float>(), hn::PromoteTo(Tag<int32_t>(), hn::LoadU(byte, w)));
  }
};

template <class Widen>
struct RowWeightsWidened {
  using Number = float;
  using Element = typename Widen::Element;
  static constexpr int64_t kGroup = 1;

  template <int kRows, int kVectors>
  static HWY_INLINE void AddToRows(const Element* w, const float* x, int64_t stride,
                                   VecOf<float> (&sums)[kRows][kVectors]) {
    VecOf<float> ws[kVectors];
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      ws[v] = Widen::Load(w + v * kLanes<float>);
    }
    AddProducts<float>(ws, x, stride, sums);
  }

  template <int kVectors>
  static HWY_INLINE void Add(const Element* w, const float* x, VecOf<float>* sums) {
    const auto xs = hn::Set(Tag<float>(), x[0]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = hn::MulAdd(xs, Widen::Load(w + v * kLanes<float>), sums[v]);
    }
  }
};

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
