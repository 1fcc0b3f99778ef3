// Kernels of boosted trees, on every instruction set of this machine, against plain loops.
#include "lamina/backend/cpu/tree_kernels.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/random.h"

namespace lamina::cpu {
namespace {

template <class Fn>
void OnEveryTarget(const Fn& fn) {
  for (int64_t bits = hwy::SupportedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1) {
    hwy::SetSupportedTargetsForTest(bits & -bits);
    SCOPED_TRACE(hwy::TargetName(bits & -bits));
    fn(TreeKernels());
    hwy::SetSupportedTargetsForTest(0);
  }
}

std::vector<int32_t> Whole(int64_t count, Random& random) {
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::generate(numbers.begin(), numbers.end(), [&] { return static_cast<int32_t>(random.Below(2001)) - 1000; });
  return numbers;
}

TEST(TreeKernels, SumsAreThoseOfEachBin) {
  OnEveryTarget([](const TreeTable& kernels) {
    Random random(5);
    for (const int64_t width : {4, 8, 12, 20, 56}) {
      constexpr int64_t kRows = 40;
      constexpr int64_t kBins = 9;
      std::vector<uint16_t> bins;
      std::vector<int64_t> begin = {0};
      for (int64_t i = 0; i < kRows; ++i) {
        for (uint64_t e = random.Below(4); e > 0; --e) {
          bins.push_back(static_cast<uint16_t>(random.Below(kBins)));
        }
        begin.push_back(std::ssize(bins));
      }
      const std::vector<int32_t> numbers = Whole(kRows * width, random);
      const std::vector<int32_t> rows = {0, 3, 4, 17, 38, 39};
      std::vector<int32_t> sums = Whole(kBins * width, random);
      std::vector<int32_t> total = Whole(width, random);
      std::vector<int32_t> wanted = sums;
      std::vector<int32_t> wanted_total = total;
      for (const int64_t row : rows) {
        for (int64_t k = 0; k < width; ++k) {
          const int32_t number = numbers[static_cast<size_t>(row * width + k)];
          wanted_total[static_cast<size_t>(k)] += number;
          for (int64_t e = begin[static_cast<size_t>(row)]; e < begin[static_cast<size_t>(row + 1)]; ++e) {
            wanted[static_cast<size_t>(bins[static_cast<size_t>(e)] * width + k)] += number;
          }
        }
      }
      kernels.add_rows(
          {bins.data(), begin.data(), rows.data(), std::ssize(rows), numbers.data(), width, sums.data(), total.data()});
      EXPECT_EQ(sums, wanted) << width;
      EXPECT_EQ(total, wanted_total) << width;
      constexpr int64_t kBin = 6;
      for (int64_t k = 0; k < width; ++k) {
        int32_t& left = wanted[static_cast<size_t>(kBin * width + k)];
        left = total[static_cast<size_t>(k)];
        for (int64_t b = 0; b < kBins; ++b) {
          left -= b == kBin ? 0 : wanted[static_cast<size_t>(b * width + k)];
        }
      }
      kernels.complete(sums.data(), kBins, width, kBin, total.data());
      EXPECT_EQ(sums, wanted) << width;
    }
  });
}

TEST(TreeKernels, BestCutIsTheBest) {
  OnEveryTarget([](const TreeTable& kernels) {
    Random random(7);
    for (const int64_t scores : {1, 2, 3, 7, 8, 9, 26}) {
      const int64_t width = (2 * scores + kBinNumbers) / kBinNumbers * kBinNumbers;
      std::vector<double> slope(static_cast<size_t>(scores + kCutPadding), 0.0);
      std::vector<double> curvature = slope;
      std::vector<double> ridge(slope.size(), 1.0);
      std::fill_n(slope.begin(), scores, 0.25);
      std::fill_n(curvature.begin(), scores, 0.125);
      for (const int64_t bins : {1, 2, 3, 8, 9, 17, 64, 255, 256}) {
        for (const int64_t least_rows : {1, 40, 5000}) {
          std::vector<int32_t> sums = Whole(bins * width, random);
          std::vector<int32_t> total(static_cast<size_t>(width + kCutPadding), 0);
          for (int64_t b = 0; b < bins; ++b) {
            int32_t* const of_bin = &sums[static_cast<size_t>(b * width)];
            for (int64_t k = 0; k < scores; ++k) {
              of_bin[scores + k] = 1 + std::abs(of_bin[scores + k]);
            }
            of_bin[2 * scores] = static_cast<int32_t>(random.Below(30));
            for (int64_t k = 0; k < width; ++k) {
              total[static_cast<size_t>(k)] += of_bin[k];
            }
          }
          BestCut wanted;
          for (int64_t cut = 0; cut + 1 < bins; ++cut) {
            double score = 0;
            int64_t rows = 0;
            for (int64_t k = 0; k < scores; ++k) {
              double no[2] = {};
              rows = 0;
              for (int64_t b = 0; b <= cut; ++b) {
                no[0] += 0.25 * sums[static_cast<size_t>(b * width + k)];
                no[1] += 0.125 * sums[static_cast<size_t>(b * width + scores + k)];
                rows += sums[static_cast<size_t>(b * width + 2 * scores)];
              }
              const double yes[2] = {0.25 * total[static_cast<size_t>(k)] - no[0],
                                     0.125 * total[static_cast<size_t>(scores + k)] - no[1]};
              score += no[0] * no[0] / (no[1] + 1) + yes[0] * yes[0] / (yes[1] + 1);
            }
            const bool enough = std::min(rows, total[static_cast<size_t>(2 * scores)] - rows) >= least_rows;
            if (enough && score > wanted.score * (1 + 1e-12)) {
              wanted = {score, cut};
            }
          }
          std::vector<int32_t> scratch(static_cast<size_t>(std::max(kMostBins * kBinNumbers, width + kCutPadding)));
          const CutScales scales = {scores, width, slope.data(), curvature.data(), ridge.data(), least_rows};
          const BestCut found = kernels.best_cut(sums.data(), bins, total.data(), scales, scratch.data());
          EXPECT_EQ(found.cut, wanted.cut) << scores << " " << bins << " " << least_rows;
          EXPECT_NEAR(found.score, wanted.score, 1e-12 * wanted.score) << scores << " " << bins;
        }
      }
    }
  });
}

TEST(TreeKernels, ProbabilitiesAndLogarithmsOfSums) {
  OnEveryTarget([](const TreeTable& kernels) {
    Random random(9);
    for (const int64_t k : {1, 2, 3, 8, 11, 26}) {
      constexpr int64_t kRows = 21;
      std::vector<double> scores(static_cast<size_t>(kRows * k));
      std::generate(scores.begin(), scores.end(), [&] { return 5 * random.Normal(); });
      scores[0] = 900;
      scores[static_cast<size_t>(k)] = -900;
      std::vector<double> answers(scores.size());
      std::vector<double> sums(kRows);
      kernels.probabilities(scores.data(), kRows, k, answers.data());
      kernels.log_sums(scores.data(), kRows, k, sums.data());
      for (int64_t i = 0; i < kRows; ++i) {
        const double* const row = &scores[static_cast<size_t>(i * k)];
        const double most = std::max(*std::max_element(row, row + k), k == 1 ? 0.0 : row[0]);
        double sum = k == 1 ? std::exp(-most) : 0;
        sum = std::accumulate(row, row + k, sum, [&](double so_far, double x) { return so_far + std::exp(x - most); });
        const double wanted = most + std::log(sum);
        EXPECT_NEAR(sums[static_cast<size_t>(i)], wanted, 1e-13 * (1 + std::abs(wanted)));
        for (int64_t j = 0; j < k; ++j) {
          EXPECT_NEAR(answers[static_cast<size_t>(i * k + j)], std::exp(row[j] - wanted), 1e-13);
        }
      }
    }
  });
}

TEST(TreeKernels, SlopesAsWholeNumbers) {
  OnEveryTarget([](const TreeTable& kernels) {
    Random random(11);
    for (const int64_t n : {2, 4, 6, 52}) {
      constexpr int64_t kRows = 13;
      const int64_t width = (n + kBinNumbers) / kBinNumbers * kBinNumbers;
      std::vector<double> slopes(static_cast<size_t>(kRows * n));
      std::generate(slopes.begin(), slopes.end(), [&] { return random.Normal(); });
      std::vector<double> sizes(static_cast<size_t>(n));
      kernels.sizes(slopes.data(), kRows, n, sizes.data());
      std::vector<double> scales(static_cast<size_t>(n));
      std::iota(scales.begin(), scales.end(), 1000.0);
      std::vector<int32_t> numbers(static_cast<size_t>(kRows * width), -1);
      kernels.round(slopes.data(), kRows, n, scales.data(), width, numbers.data());
      std::vector<double> wanted(static_cast<size_t>(n), 0.0);
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t k = 0; k < width; ++k) {
          const int32_t number = numbers[static_cast<size_t>(i * width + k)];
          if (k >= n) {
            EXPECT_EQ(number, k == n ? 1 : 0);
            continue;
          }
          const double slope = slopes[static_cast<size_t>(i * n + k)];
          wanted[static_cast<size_t>(k)] += std::abs(slope);
          EXPECT_EQ(number, std::lrint(slope * scales[static_cast<size_t>(k)]));
        }
      }
      for (int64_t k = 0; k < n; ++k) {
        EXPECT_NEAR(sizes[static_cast<size_t>(k)], wanted[static_cast<size_t>(k)], 1e-13 * kRows);
      }
    }
  });
}

}  // namespace
}  // namespace lamina::cpu
