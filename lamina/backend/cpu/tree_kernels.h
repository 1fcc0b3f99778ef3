// What boosted trees (lamina/boost) compute with: sums of rows by their bins, the best cut of a column, answers of
// scores. Sums are of integers: exact, in any order.
#pragma once

#include <cstdint>

namespace lamina::cpu {

/// Numbers of a row stand at a multiple of so many.
inline constexpr int64_t kBinNumbers = 4;

/// Adds the numbers of rows to their bins. Bins and rows have `width` numbers, a multiple of kBinNumbers.
struct BinSums {
  const uint16_t* bins = nullptr;    // of row i from begin[i] to begin[i + 1]
  const int64_t* begin = nullptr;    // rows + 1
  const int32_t* rows = nullptr;     // that are added
  int64_t count = 0;                 // of them
  const int32_t* numbers = nullptr;  // all rows × width
  int64_t width = 0;
  int32_t* sums = nullptr;   // bins × width
  int32_t* total = nullptr;  // width: += the numbers of the rows
};

/// Scores of a leaf: `scores` slopes, as many curvatures, and the number of rows. Scales have kCutPadding numbers more,
/// which are 0 (of ridge 1).
struct CutScales {
  int64_t scores = 0;
  int64_t width = 0;
  const double* slope = nullptr;      // of an integer
  const double* curvature = nullptr;  // of an integer
  const double* ridge = nullptr;
  int64_t least_rows = 0;
};

/// Numbers that may be read, and do not count, behind a leaf's total and behind scales.
inline constexpr int64_t kCutPadding = 16;
inline constexpr int64_t kMostBins = 256;

/// A column's sums are cut behind bin `cut`; `score` is the sum of slope² / (curvature + ridge) of both parts, or 0
/// where no cut leaves enough rows.
struct BestCut {
  double score = 0;
  int64_t cut = -1;
};

struct TreeTable {
  void (*add_rows)(const BinSums&) noexcept;
  /// sums[bin] = total - the sums of the other bins.
  void (*complete)(int32_t* sums, int64_t bins, int64_t width, int64_t bin, const int32_t* total) noexcept;
  /// `sums`: bins × width, at most kMostBins; `total`: their sum, and kCutPadding; `scratch`: kMostBins ×
  /// kBinNumbers, or width and kCutPadding where that is more.
  BestCut (*best_cut)(const int32_t* sums, int64_t bins, const int32_t* total, const CutScales&,
                      int32_t* scratch) noexcept;
  /// rows × k scores to probabilities: of a softmax, or for k = 1 of the sigmoid. May be in place.
  void (*probabilities)(const double* scores, int64_t rows, int64_t k, double* out) noexcept;
  /// out[i] = ln(sum of e^score) of row i; of one score ln(1 + e^score).
  void (*log_sums)(const double* scores, int64_t rows, int64_t k, double* out) noexcept;
  /// sums[j] = the sum of |slopes[i][j]| over the rows; count × n, n even.
  void (*sizes)(const double* slopes, int64_t count, int64_t n, double* sums) noexcept;
  /// numbers (count × width) = the nearest integers of slopes (count × n, n even) times `scales` (n), then 1, then
  /// zeros.
  void (*round)(const double* slopes, int64_t count, int64_t n, const double* scales, int64_t width,
                int32_t* numbers) noexcept;
};

/// For the best instruction set of this CPU.
const TreeTable& TreeKernels();

}  // namespace lamina::cpu
