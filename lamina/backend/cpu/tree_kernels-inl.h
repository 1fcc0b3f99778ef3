// Loops over rows, bins and cuts.
#if defined(LAMINA_BACKEND_CPU_TREE_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_TREE_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_TREE_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_TREE_KERNELS_INL_H_
#endif

#include <algorithm>

#include "lamina/backend/cpu/epilogue-inl.h"
#include "lamina/backend/cpu/tree_kernels.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

using BinTag = hn::CappedTag<int32_t, kBinNumbers>;
inline constexpr int64_t kBinLanes = hn::MaxLanes(BinTag());
inline constexpr int64_t kBinVectors = kBinNumbers / kBinLanes;  // 1, but where there are no vectors
using PairTag = hn::CappedTag<double, 2>;
inline constexpr int64_t kPairLanes = hn::MaxLanes(PairTag());

// to += from, `width` numbers.
HWY_INLINE void AddNumbers(const int32_t* from, int64_t width, int32_t* to) {
  const Tag<int32_t> d;
  int64_t k = 0;
  for (; k + kLanes<int32_t> <= width; k += kLanes<int32_t>) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + k), hn::LoadU(d, from + k)), d, to + k);
  }
  const BinTag few;
  for (; k < width; k += kBinLanes) {
    hn::StoreU(hn::Add(hn::LoadU(few, to + k), hn::LoadU(few, from + k)), few, to + k);
  }
}

// A row's numbers are one register.
HWY_INLINE void AddShortRows(const BinSums& task) {
  const BinTag d;
  hn::VFromD<BinTag> total[kBinVectors];
  hn::VFromD<BinTag> numbers[kBinVectors];
  for (int64_t k = 0; k < kBinVectors; ++k) {
    total[k] = hn::LoadU(d, task.total + k * kBinLanes);
  }
  for (int64_t i = 0; i < task.count; ++i) {
    const int64_t row = task.rows[i];
    for (int64_t k = 0; k < kBinVectors; ++k) {
      numbers[k] = hn::LoadU(d, task.numbers + row * kBinNumbers + k * kBinLanes);
      total[k] = hn::Add(total[k], numbers[k]);
    }
    const int64_t end = task.begin[row + 1];
    for (int64_t e = task.begin[row]; e < end; ++e) {
      int32_t* const sum = task.sums + kBinNumbers * task.bins[e];
      for (int64_t k = 0; k < kBinVectors; ++k) {
        hn::StoreU(hn::Add(hn::LoadU(d, sum + k * kBinLanes), numbers[k]), d, sum + k * kBinLanes);
      }
    }
  }
  for (int64_t k = 0; k < kBinVectors; ++k) {
    hn::StoreU(total[k], d, task.total + k * kBinLanes);
  }
}

inline void AddRows(const BinSums& task) noexcept {
  if (task.width == kBinNumbers) {
    AddShortRows(task);
    return;
  }
  for (int64_t i = 0; i < task.count; ++i) {
    const int64_t row = task.rows[i];
    const int32_t* const numbers = task.numbers + row * task.width;
    AddNumbers(numbers, task.width, task.total);
    const int64_t end = task.begin[row + 1];
    for (int64_t e = task.begin[row]; e < end; ++e) {
      AddNumbers(numbers, task.width, task.sums + task.width * task.bins[e]);
    }
  }
}

inline void Complete(int32_t* sums, int64_t bins, int64_t width, int64_t bin, const int32_t* total) noexcept {
  const BinTag d;
  for (int64_t k = 0; k < width; k += kBinLanes) {
    auto left = hn::LoadU(d, total + k);
    for (int64_t b = 0; b < bins; ++b) {
      left = b == bin ? left : hn::Sub(left, hn::LoadU(d, sums + b * width + k));
    }
    hn::StoreU(left, d, sums + bin * width + k);
  }
}

// slope² / (curvature + ridge), all f64.
template <class V>
HWY_INLINE V CutScore(V slope, V curvature, V ridge) {
  return hn::Div(hn::Mul(slope, slope), hn::Add(curvature, ridge));
}

// What stands before each cut, for one score.
HWY_INLINE void SumBefore(const int32_t* sums, int64_t bins, int32_t* before) {
  const BinTag few;
  for (int64_t k = 0; k < kBinNumbers; k += kBinLanes) {
    auto running = hn::Zero(few);
    for (int64_t b = 0; b + 1 < bins; ++b) {
      running = hn::Add(running, hn::LoadU(few, sums + b * kBinNumbers + k));
      hn::StoreU(running, few, before + b * kBinNumbers + k);
    }
  }
}

// The first of the best cuts.
HWY_INLINE BestCut BestOfLanes(VecOf<double> scores, VecOf<double> cuts) {
  const Tag<double> d;
  double score[kLanes<double>];
  double cut[kLanes<double>];
  hn::StoreU(scores, d, score);
  hn::StoreU(cuts, d, cut);
  BestCut found;
  for (int64_t i = 0; i < kLanes<double>; ++i) {
    const auto at = static_cast<int64_t>(cut[i]);
    if (score[i] > found.score || (score[i] == found.score && at < found.cut)) {
      found = {score[i], at};
    }
  }
  return found;
}

// One score: a lane is a cut.
HWY_INLINE BestCut BestCutOfOne(const int32_t* sums, int64_t bins, const int32_t* total, const CutScales& scales,
                                int32_t* before) {
  SumBefore(sums, bins, before);
  const Tag<double> d;
  const hn::Rebind<int32_t, Tag<double>> ints;
  const auto slope_scale = hn::Set(d, scales.slope[0]);
  const auto curvature_scale = hn::Set(d, scales.curvature[0]);
  const auto ridge = hn::Set(d, scales.ridge[0]);
  const auto least = hn::Set(ints, static_cast<int32_t>(scales.least_rows - 1));
  auto best = hn::Zero(d);
  auto best_cut = hn::Set(d, -1.0);
  auto cut = hn::Iota(d, 0);
  const auto score_of = [&](auto slope, auto curvature) HWY_ATTR {
    return CutScore(hn::Mul(hn::PromoteTo(d, slope), slope_scale),
                    hn::Mul(hn::PromoteTo(d, curvature), curvature_scale), ridge);
  };
  for (int64_t b = 0; b + 1 < bins; b += kLanes<double>) {
    hn::VFromD<decltype(ints)> slope;
    hn::VFromD<decltype(ints)> curvature;
    hn::VFromD<decltype(ints)> rows;
    hn::VFromD<decltype(ints)> rest;
    hn::LoadInterleaved4(ints, before + b * kBinNumbers, slope, curvature, rows, rest);
    const auto score = hn::Add(score_of(slope, curvature), score_of(hn::Sub(hn::Set(ints, total[0]), slope),
                                                                    hn::Sub(hn::Set(ints, total[1]), curvature)));
    const auto fewest = hn::Min(rows, hn::Sub(hn::Set(ints, total[2]), rows));
    // Behind the last cut the numbers are any.
    const auto counts = hn::And(hn::Lt(cut, hn::Set(d, static_cast<double>(bins - 1))),
                                hn::Gt(hn::PromoteTo(d, fewest), hn::PromoteTo(d, least)));
    const auto better = hn::And(counts, hn::Gt(score, best));
    best = hn::IfThenElse(better, score, best);
    best_cut = hn::IfThenElse(better, cut, best_cut);
    cut = hn::Add(cut, hn::Set(d, static_cast<double>(kLanes<double>)));
  }
  return BestOfLanes(best, best_cut);
}

// A lane is a score. `no`: what stands before the cut.
HWY_INLINE double ScoreOfCut(const int32_t* no, const int32_t* total, const CutScales& scales) {
  const Tag<double> d;
  const hn::Rebind<int32_t, Tag<double>> ints;
  auto sum = hn::Zero(d);
  for (int64_t k = 0; k < scales.scores; k += kLanes<double>) {
    const auto slope_scale = hn::LoadU(d, scales.slope + k);
    const auto curvature_scale = hn::LoadU(d, scales.curvature + k);
    const auto ridge = hn::LoadU(d, scales.ridge + k);
    const auto part = [&](auto slope, auto curvature) HWY_ATTR {
      return CutScore(hn::Mul(hn::PromoteTo(d, slope), slope_scale),
                      hn::Mul(hn::PromoteTo(d, curvature), curvature_scale), ridge);
    };
    const auto slope = hn::LoadU(ints, no + k);
    const auto curvature = hn::LoadU(ints, no + scales.scores + k);
    sum = hn::Add(
        sum, hn::Add(part(slope, curvature), part(hn::Sub(hn::LoadU(ints, total + k), slope),
                                                  hn::Sub(hn::LoadU(ints, total + scales.scores + k), curvature))));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

inline BestCut FindBestCut(const int32_t* sums, int64_t bins, const int32_t* total, const CutScales& scales,
                           int32_t* scratch) noexcept {
  if (scales.scores == 1) {
    return BestCutOfOne(sums, bins, total, scales, scratch);
  }
  const int64_t rows_at = 2 * scales.scores;
  std::fill_n(scratch, scales.width, 0);
  BestCut found;
  for (int64_t cut = 0; cut + 1 < bins; ++cut) {
    AddNumbers(sums + cut * scales.width, scales.width, scratch);
    if (scratch[rows_at] < scales.least_rows) {
      continue;
    }
    if (total[rows_at] - scratch[rows_at] < scales.least_rows) {
      break;
    }
    const double score = ScoreOfCut(scratch, total, scales);
    if (score > found.score) {
      found = {score, cut};
    }
  }
  return found;
}

inline void Probabilities(const double* scores, int64_t rows, int64_t k, double* out) noexcept {
  if (k > 1) {
    for (int64_t i = 0; i < rows; ++i) {
      k < kLanes<double> ? SoftmaxOfVector<double>(scores + i * k, out + i * k, k)
                         : SoftmaxRow<double>(scores + i * k, out + i * k, k);
    }
    return;
  }
  const auto one = hn::Set(Tag<double>(), 1.0);
  Transform<double>(
      rows, out, [&](VecOf<double> s) HWY_ATTR { return hn::Div(one, hn::Add(one, ExpVec<double>(hn::Neg(s)))); },
      scores);
}

inline void LogSums(const double* scores, int64_t rows, int64_t k, double* out) noexcept {
  const Tag<double> d;
  if (k == 1) {
    Transform<double>(
        rows, out,
        [&](VecOf<double> s) HWY_ATTR {
          const auto beside = Log1pVec<double>(ExpVec<double>(hn::Neg(hn::Abs(s))));
          return hn::Add(hn::Max(s, hn::Zero(d)), beside);
        },
        scores);
    return;
  }
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < rows; ++i) {
    auto most = hn::Set(d, kLeast);
    const auto larger = [&](VecOf<double> v, int64_t, int64_t) HWY_ATTR { most = hn::Max(most, v); };
    ForVectors<double>(scores + i * k, k, kLeast, larger);
    most = hn::MaxOfLanes(d, most);
    auto sum = hn::Zero(d);
    const auto add = [&](VecOf<double> v, int64_t, int64_t)
                         HWY_ATTR { sum = hn::Add(sum, ExpVec<double>(hn::Sub(v, most))); };
    ForVectors<double>(scores + i * k, k, kLeast, add);
    out[i] = hn::GetLane(hn::Add(most, LogVec<double>(hn::SumOfLanes(d, sum))));
  }
}

inline void Sizes(const double* slopes, int64_t count, int64_t n, double* sums) noexcept {
  const Tag<double> d;
  std::fill_n(sums, n, 0.0);
  int64_t i = 0;
  if (kLanes < double >> 1 && n == 2) {  // both in turn
    auto sizes = hn::Zero(d);
    constexpr int64_t kRows = std::max<int64_t>(1, kLanes<double> / 2);
    for (; i + kRows <= count; i += kRows) {
      sizes = hn::Add(sizes, hn::Abs(hn::LoadU(d, slopes + 2 * i)));
    }
    double lanes[kLanes<double>];
    hn::StoreU(sizes, d, lanes);
    for (int64_t j = 0; j < kLanes<double>; ++j) {
      sums[j % 2] += lanes[j];
    }
  }
  const PairTag two;
  for (; i < count; ++i) {
    for (int64_t k = 0; k < n; k += kPairLanes) {
      hn::StoreU(hn::Add(hn::LoadU(two, sums + k), hn::Abs(hn::LoadU(two, slopes + i * n + k))), two, sums + k);
    }
  }
}

inline void Round(const double* slopes, int64_t count, int64_t n, const double* scales, int64_t width,
                  int32_t* numbers) noexcept {
  const PairTag d;
  const hn::Rebind<int32_t, PairTag> ints;
  for (int64_t i = 0; i < count; ++i) {
    int32_t* const to = numbers + i * width;
    for (int64_t k = 0; k < n; k += kPairLanes) {  // n is even
      hn::StoreU(hn::DemoteTo(ints, hn::Round(hn::Mul(hn::LoadU(d, slopes + i * n + k), hn::LoadU(d, scales + k)))),
                 ints, to + k);
    }
    to[n] = 1;
    std::fill(to + n + 1, to + width, 0);
  }
}

const TreeTable& TreeTableOfTarget() {
  static constexpr TreeTable table = {&AddRows, &Complete, &FindBestCut, &Probabilities, &LogSums, &Sizes, &Round};
  return table;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
