// Products of rows in register tiles, and loops over rows, in f64.
#if defined(LAMINA_BACKEND_CPU_SYMMETRIC_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_SYMMETRIC_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_SYMMETRIC_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_SYMMETRIC_KERNELS_INL_H_
#endif

#include <algorithm>
#include <utility>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

using Doubles = VecOf<double>;
inline constexpr int64_t kWide = kLanes<double>;
// The rows of a and of b whose sums a product keeps in registers. With 16 registers (AVX2) they are fewer rows of a.
inline constexpr int64_t kTileRows = kWide >= 8 ? 4 : 2;
inline constexpr int64_t kTileColumns = 4;

// The sums of four vectors' lanes, with fewer steps than one after the other.
HWY_INLINE void SumsOfFour(const Doubles* sums, double* out) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const hn::FixedTag<double, 4> d;
  const auto half = [&](int64_t c) HWY_ATTR {
#if HWY_TARGET == HWY_AVX2
    return sums[c];
#else
    return hn::Add(hn::LowerHalf(d, sums[c]), hn::UpperHalf(d, sums[c]));
#endif
  };
  const auto pairs = [&](auto a, auto b)
                         HWY_ATTR { return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)); };
  const auto first = pairs(half(0), half(1));
  const auto second = pairs(half(2), half(3));
  hn::StoreU(hn::Add(hn::ConcatLowerLower(d, second, first), hn::ConcatUpperUpper(d, second, first)), d, out);
#else
  for (int64_t c = 0; c < 4; ++c) {
    out[c] = hn::GetLane(hn::SumOfLanes(Tag<double>(), sums[c]));
  }
#endif
}

template <int64_t kRows, int64_t kColumns>
HWY_INLINE void ProductTile(const ProductTask& task, int64_t i, int64_t j) {
  const Tag<double> d;
  Doubles sums[kRows][kColumns];
  for (auto& row : sums) {
    for (Doubles& sum : row) {
      sum = hn::Zero(d);
    }
  }
  const double* HWY_RESTRICT a = task.a + i * task.a_stride;
  const double* HWY_RESTRICT b = task.b + j * task.b_stride;
  for (int64_t k = 0; k < task.k; k += kWide) {
    Doubles columns[kColumns];
    for (int64_t c = 0; c < kColumns; ++c) {
      columns[c] = hn::LoadU(d, b + c * task.b_stride + k);
    }
    for (int64_t r = 0; r < kRows; ++r) {
      const Doubles row = hn::LoadU(d, a + r * task.a_stride + k);
      for (int64_t c = 0; c < kColumns; ++c) {
        sums[r][c] = hn::MulAdd(row, columns[c], sums[r][c]);
      }
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    double* const to = task.c + (i + r) * task.c_stride + j;
    double totals[4];
    if constexpr (kColumns == 4) {
      SumsOfFour(sums[r], totals);
    } else {
      const Doubles alone[4] = {sums[r][0], hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      SumsOfFour(alone, totals);
    }
    for (int64_t c = 0; c < kColumns; ++c) {
      to[c] = task.subtract ? to[c] - totals[c] : totals[c];
    }
  }
}

template <int64_t kRows>
HWY_INLINE void ProductRows(const ProductTask& task, int64_t i) {
  int64_t j = 0;
  for (; j + kTileColumns <= task.n; j += kTileColumns) {
    ProductTile<kRows, kTileColumns>(task, i, j);
  }
  for (; j < task.n; ++j) {
    ProductTile<kRows, 1>(task, i, j);
  }
}

inline void Products(const ProductTask& task) noexcept {
  int64_t i = 0;
  for (; i + kTileRows <= task.m; i += kTileRows) {
    ProductRows<kTileRows>(task, i);
  }
  for (; i < task.m; ++i) {
    ProductRows<1>(task, i);
  }
}

template <int64_t kRows, int64_t kVectors>
HWY_INLINE void TriangleTile(double* HWY_RESTRICT rows, int64_t stride, const double* HWY_RESTRICT triangle,
                             int64_t triangle_stride, int64_t column) {
  const Tag<double> d;
  Doubles sums[kRows][kVectors];
  for (auto& row : sums) {
    for (Doubles& sum : row) {
      sum = hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < column + kVectors * kWide; ++k) {
    Doubles of_triangle[kVectors];
    for (int64_t v = 0; v < kVectors; ++v) {
      of_triangle[v] = hn::LoadU(d, triangle + k * triangle_stride + column + v * kWide);
    }
    for (int64_t r = 0; r < kRows; ++r) {
      const Doubles factor = hn::Set(d, rows[r * stride + k]);
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, of_triangle[v], sums[r][v]);
      }
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], d, rows + r * stride + column + v * kWide);
    }
  }
}

// The last columns first: what they are made of is still there.
template <int64_t kRows>
HWY_INLINE void TriangleRows(double* rows, int64_t stride, const double* triangle, int64_t triangle_stride,
                             int64_t width) {
  constexpr int64_t kVectors = 2;
  constexpr int64_t kStep = kVectors * kWide;
  int64_t column = width;
  for (; column % kStep != 0; column -= kWide) {
    TriangleTile<kRows, 1>(rows, stride, triangle, triangle_stride, column - kWide);
  }
  for (; column > 0; column -= kStep) {
    TriangleTile<kRows, kVectors>(rows, stride, triangle, triangle_stride, column - kStep);
  }
}

inline void TimesTriangle(double* rows, int64_t stride, int64_t count, const double* triangle, int64_t triangle_stride,
                          int64_t width) noexcept {
  constexpr int64_t kRows = kWide >= 8 ? 8 : 4;
  int64_t i = 0;
  for (; i + kRows <= count; i += kRows) {
    TriangleRows<kRows>(rows + i * stride, stride, triangle, triangle_stride, width);
  }
  for (; i < count; ++i) {
    TriangleRows<1>(rows + i * stride, stride, triangle, triangle_stride, width);
  }
}

template <int kP>
HWY_INLINE Doubles DistanceOf(const double* HWY_RESTRICT row, const ColumnRows& x, int64_t begin) {
  const Tag<double> d;
  Doubles sum = hn::Zero(d);
  for (int64_t j = 0; j < x.width; ++j) {
    const Doubles difference = hn::Sub(hn::Set(d, row[j]), hn::LoadU(d, x.columns + j * x.stride + begin));
    sum = kP == 1 ? hn::Add(sum, hn::Abs(difference)) : hn::MulAdd(difference, difference, sum);
  }
  return kP == 1 ? sum : hn::Sqrt(sum);
}

template <int kP>
HWY_INLINE void DistancesOf(const double* row, const ColumnRows& x, int64_t count, double* out) {
  const Tag<double> d;
  int64_t i = 0;
  for (; i + 4 * kWide <= count; i += 4 * kWide) {
    Doubles sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int64_t j = 0; j < x.width; ++j) {
      const Doubles own = hn::Set(d, row[j]);
      const double* HWY_RESTRICT column = x.columns + j * x.stride + i;
      for (int64_t v = 0; v < 4; ++v) {
        const Doubles difference = hn::Sub(own, hn::LoadU(d, column + v * kWide));
        sums[v] = kP == 1 ? hn::Add(sums[v], hn::Abs(difference)) : hn::MulAdd(difference, difference, sums[v]);
      }
    }
    for (int64_t v = 0; v < 4; ++v) {
      hn::StoreU(kP == 1 ? sums[v] : hn::Sqrt(sums[v]), d, out + i + v * kWide);
    }
  }
  for (; i < count; i += kWide) {  // the columns' strides are whole vectors
    const Doubles sum = DistanceOf<kP>(row, x, i);
    if (i + kWide <= count) {
      hn::StoreU(sum, d, out + i);
    } else {
      StoreTail<double>(sum, out + i, count - i);
    }
  }
}

inline void Distances(const double* row, const ColumnRows& x, int64_t count, int p, double* out) noexcept {
  p == 1 ? DistancesOf<1>(row, x, count, out) : DistancesOf<2>(row, x, count, out);
}

// (d / scale)^power.
HWY_INLINE Doubles PowerOf(Doubles distance, const KernelShape& shape) {
  const Tag<double> d;
  const Doubles share = hn::Mul(distance, hn::Set(d, 1 / shape.scale));
  if (shape.power == 1) {
    return share;
  }
  const Doubles log = LogVec<double>(MaxVec<double>(hn::Set(d, 1e-300), share));
  return ExpVec<double>(hn::Mul(hn::Set(d, shape.power), log));
}

inline void Kernels(const double* distances, int64_t n, const KernelShape& shape, double* out) noexcept {
  Transform<double>(
      n, out, [&](Doubles distance) HWY_ATTR { return ExpVec<double>(hn::Neg(PowerOf(distance, shape))); }, distances);
}

inline void SlopeWeights(const double* distances, int64_t n, const KernelShape& shape, double* w) noexcept {
  const Tag<double> d;
  const Doubles least = hn::Set(d, 1e-9);
  Transform<double>(
      n, w,
      [&](Doubles distance) HWY_ATTR {
        const Doubles power = PowerOf(distance, shape);
        const Doubles kernel = hn::Mul(power, ExpVec<double>(hn::Neg(power)));
        const Doubles below = shape.p == 1 ? distance : hn::Mul(distance, distance);
        return hn::IfThenElseZero(hn::Gt(distance, least), hn::Div(kernel, below));
      },
      distances);
}

// Columns [begin, begin + kColumns), for as many outputs: so many sums that none waits for its last addition.
template <int kP, int64_t kOutputs, int64_t kColumns>
HWY_INLINE void AddSquaredSlopes(const double* row, const ColumnRows& x, int64_t begin, const double* HWY_RESTRICT w,
                                 const double* HWY_RESTRICT alpha, double* out) {
  const Tag<double> d;
  const double* HWY_RESTRICT columns = x.columns + begin * x.stride;
  Doubles own[kColumns];
  Doubles sums[kColumns][kOutputs];
  for (int64_t j = 0; j < kColumns; ++j) {
    own[j] = hn::Set(d, row[begin + j]);
    for (Doubles& sum : sums[j]) {
      sum = hn::Zero(d);
    }
  }
  for (int64_t i = 0; i < x.rows; i += kWide) {  // w is zero behind the rows
    const Doubles weight = hn::LoadU(d, w + i);
    for (int64_t j = 0; j < kColumns; ++j) {
      const Doubles difference = hn::Sub(own[j], hn::LoadU(d, columns + j * x.stride + i));
      const Doubles term = hn::Mul(weight, kP == 1 ? SignVec<double>(difference) : difference);
      for (int64_t c = 0; c < kOutputs; ++c) {
        sums[j][c] = hn::MulAdd(term, hn::LoadU(d, alpha + c * x.stride + i), sums[j][c]);
      }
    }
  }
  for (int64_t j = 0; j < kColumns; ++j) {
    for (const Doubles& sum : sums[j]) {
      const double slope = hn::GetLane(hn::SumOfLanes(d, sum));
      out[begin + j] += slope * slope;
    }
  }
}

template <int kP, int64_t kOutputs>
HWY_INLINE void AddSlopesOfAll(const double* row, const ColumnRows& x, const double* w, const double* alpha,
                               double* out) {
  constexpr int64_t kColumns = kWide >= 8 || kOutputs < 4 ? 4 : 2;  // of 16 registers 8 are sums
  int64_t j = 0;
  for (; j + kColumns <= x.width; j += kColumns) {
    AddSquaredSlopes<kP, kOutputs, kColumns>(row, x, j, w, alpha, out);
  }
  for (; j < x.width; ++j) {
    AddSquaredSlopes<kP, kOutputs, 1>(row, x, j, w, alpha, out);
  }
}

// Takes up to four outputs at once.
template <int kP>
HWY_INLINE void SquaredSlopesOf(const double* row, const ColumnRows& x, const double* w, const double* alpha,
                                int64_t outputs, double* out) {
  std::fill_n(out, x.width, 0.0);
  int64_t c = 0;
  for (; c + 4 <= outputs; c += 4) {
    AddSlopesOfAll<kP, 4>(row, x, w, alpha + c * x.stride, out);
  }
  if (c + 2 <= outputs) {
    AddSlopesOfAll<kP, 2>(row, x, w, alpha + c * x.stride, out);
    c += 2;
  }
  if (c < outputs) {
    AddSlopesOfAll<kP, 1>(row, x, w, alpha + c * x.stride, out);
  }
}

inline void SquaredSlopes(const double* row, const ColumnRows& x, const double* w, const double* alpha, int64_t outputs,
                          int p, double* out) noexcept {
  p == 1 ? SquaredSlopesOf<1>(row, x, w, alpha, outputs, out) : SquaredSlopesOf<2>(row, x, w, alpha, outputs, out);
}

const SymmetricTable& SymmetricTableOfTarget() {
  static constexpr SymmetricTable table = {&Products, &TimesTriangle, &Distances,
                                           &Kernels,  &SlopeWeights,  &SquaredSlopes};
  return table;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
