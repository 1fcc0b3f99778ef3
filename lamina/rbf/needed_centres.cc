// Backward elimination. The sum that SolveByCentres() makes least has the second derivatives H = K'K + ridge K(centers,
// centers). Without center j it grows by alpha_j^2 / (H^-1)_jj, and H^-1 changes by its column j alone.
#include "lamina/rbf/needed_centres.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/rbf/cholesky.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_rows.h"

namespace lamina {
namespace {

constexpr int64_t kRowsOfSums = 256;
constexpr double kFirstAddition = 1e-12;  // to the diagonal of H, whose largest number is 1
constexpr double kLeastPivotOfSums = 1e-14;
constexpr auto kSumBytes = static_cast<int64_t>(sizeof(double));

int64_t InProductSteps(int64_t n) { return (n + cpu::kProductStep - 1) / cpu::kProductStep * cpu::kProductStep; }

// H and K'y of rows and their weights, and from them H^-1 and alpha.
class NeededCentres {
 public:
  NeededCentres(ConstMatrixView x, ConstMatrixView y, ConstMatrixView candidates, const KernelMachine& chosen,
                const KernelMachineOptions& options)
      : y_(y),
        options_(options),
        shape_{chosen.kind.p, chosen.kind.power, chosen.scale},
        rows_(x, chosen.feature_weights, chosen.kind.p, options.threads),
        centres_(candidates, chosen.feature_weights, chosen.kind.p, options.threads),
        count_(candidates.rows),
        stride_(InProductSteps(count_)),
        sums_(count_ * stride_ * kSumBytes),
        alpha_(y.cols * stride_ * kSumBytes) {
    AddRows();
    AddRidge(chosen.ridge + chosen.jitter);
    Invert();
  }

  /// Places among the candidates, the most needed first.
  std::vector<int64_t> Order() {
    std::vector<int64_t> alive(static_cast<size_t>(count_));
    std::iota(alive.begin(), alive.end(), int64_t{0});
    std::vector<int64_t> order;
    std::vector<double> column(static_cast<size_t>(count_));
    for (int64_t left = count_; left > 0; --left) {
      StopPoint();
      const int64_t least = LeastNeeded(left);
      order.push_back(alive[static_cast<size_t>(least)]);
      Drop(least, left, column);
      alive[static_cast<size_t>(least)] = alive[static_cast<size_t>(left - 1)];
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  double* Row(int64_t i) { return sums_.As<double>().data() + i * stride_; }
  double* Alpha(int64_t c) { return alpha_.As<double>().data() + c * stride_; }
  double WeightOf(int64_t row) const {
    return options_.sample_weights.empty() ? 1 : options_.sample_weights[static_cast<size_t>(row)];
  }

  // Less H, and K'y.
  void AddRows() {
    const AlignedBuffer chunk(count_ * kRowsOfSums * kSumBytes);
    for (int64_t first = 0; first < y_.rows; first += kRowsOfSums) {
      StopPoint();
      const int64_t rows = std::min(kRowsOfSums, y_.rows - first);
      cpu::ColumnRows columns = rows_.columns();
      columns.columns += first;
      RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double* const kernel = chunk.As<double>().data() + i * kRowsOfSums;
          cpu::SymmetricKernels().distances(centres_.Row(i), columns, rows, shape_.p, kernel);
          cpu::SymmetricKernels().kernels(kernel, rows, shape_, kernel);
          std::fill(kernel + rows, kernel + kRowsOfSums, 0.0);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < y_.cols; ++c) {
              Alpha(c)[i] += WeightOf(first + r) * kernel[r] * y_.Row<double>(first + r)[c];
            }
            kernel[r] *= std::sqrt(WeightOf(first + r));
          }
        }
      });
      RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
        const double* const all = chunk.As<double>().data();
        cpu::SymmetricKernels().products({all + begin * kRowsOfSums, kRowsOfSums, all, kRowsOfSums, Row(begin), stride_,
                                          end - begin, count_, kRowsOfSums, /*subtract=*/true});
      });
    }
  }

  void AddRidge(double ridge) {
    RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
      const AlignedBuffer buffer(centres_.columns().stride * kSumBytes);
      double* const kernel = buffer.As<double>().data();
      for (int64_t i = begin; i < end; ++i) {
        centres_.Distances(i, count_, kernel);
        cpu::SymmetricKernels().kernels(kernel, count_, shape_, kernel);
        for (int64_t j = 0; j < count_; ++j) {
          Row(i)[j] = ridge * kernel[j] - Row(i)[j];
        }
      }
    });
  }

  // Centers that stand for one another have no H^-1: a little on the diagonal gives them one, in which they are the
  // least needed.
  void Invert() {
    double largest = 0;
    for (int64_t i = 0; i < count_; ++i) {
      largest = std::max(largest, Row(i)[i]);
    }
    Cholesky<double> factor(count_, 0, options_.threads, /*inverse=*/true);
    for (double addition = kFirstAddition;; addition *= 10) {
      for (int64_t i = 0; i < count_; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          factor.Panel(0)[TrianglePlace(i, j)] = Row(i)[j] / largest + (i == j ? addition : 0);
        }
      }
      if (addition >= 1 || factor.Factorise(kLeastPivotOfSums)) {
        break;
      }
    }
    const AlignedBuffer turned(count_ * stride_ * kSumBytes);
    for (int64_t i = 0; i < count_; ++i) {
      for (int64_t j = i; j < count_; ++j) {
        turned.As<double>()[static_cast<size_t>(i * stride_ + j)] = factor.InverseRow(i)[j * cpu::kPanelRows];
      }
    }
    const double* const all = turned.As<double>().data();
    RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
      cpu::SymmetricKernels().products({all + begin * stride_, stride_, all, stride_, Row(begin), stride_, end - begin,
                                        count_, stride_, /*subtract=*/false});
    });
    const AlignedBuffer wanted(y_.cols * stride_ * kSumBytes);
    for (int64_t c = 0; c < y_.cols; ++c) {
      std::transform(Alpha(c), Alpha(c) + count_, wanted.As<double>().data() + c * stride_,
                     [&](double sum) { return sum / largest; });
    }
    cpu::SymmetricKernels().products({wanted.As<double>().data(), stride_, Row(0), stride_, Alpha(0), stride_, y_.cols,
                                      count_, stride_, /*subtract=*/false});
  }

  int64_t LeastNeeded(int64_t left) {
    int64_t least = 0;
    double least_growth = INFINITY;
    for (int64_t i = 0; i < left; ++i) {
      double squares = 0;
      for (int64_t c = 0; c < y_.cols; ++c) {
        squares += Alpha(c)[i] * Alpha(c)[i];
      }
      if (const double growth = squares / Row(i)[i]; growth < least_growth) {
        least = i;
        least_growth = growth;
      }
    }
    return least;
  }

  // Drops one of the first `left` ones; the last takes its place. The lower triangle alone is kept up.
  void Drop(int64_t gone, int64_t left, std::vector<double>& column) {
    for (int64_t i = 0; i < left; ++i) {
      column[static_cast<size_t>(i)] = i < gone ? Row(gone)[i] : Row(i)[gone];
    }
    const double pivot = column[static_cast<size_t>(gone)];
    const double* const of_gone = column.data();
    for (int64_t i = 0; i < left; ++i) {
      double* const row = Row(i);
      const double factor = of_gone[i] / pivot;
      for (int64_t j = 0; j <= i; ++j) {
        row[j] -= factor * of_gone[j];
      }
    }
    const int64_t last = left - 1;
    for (int64_t c = 0; c < y_.cols; ++c) {
      const double factor = Alpha(c)[gone] / pivot;
      for (int64_t i = 0; i < left; ++i) {
        Alpha(c)[i] -= factor * of_gone[i];
      }
      Alpha(c)[gone] = Alpha(c)[last];
    }
    for (int64_t i = 0; i < gone; ++i) {
      Row(gone)[i] = Row(last)[i];
    }
    for (int64_t i = gone + 1; i < last; ++i) {
      Row(i)[gone] = Row(last)[i];
    }
    Row(gone)[gone] = Row(last)[last];
  }

  ConstMatrixView y_;
  const KernelMachineOptions& options_;
  KernelShape shape_;
  KernelRows rows_;
  KernelRows centres_;
  int64_t count_;
  int64_t stride_;
  AlignedBuffer sums_;   // less H, H, H^-1
  AlignedBuffer alpha_;  // output by output; K'y before
};

}  // namespace

std::vector<int64_t> CentresByNeed(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& candidates,
                                   const KernelMachine& chosen, const KernelMachineOptions& options) {
  const Matrix some = ChosenRows(x, candidates);
  std::vector<int64_t> order = NeededCentres(x, y, some.view(), chosen, options).Order();
  std::transform(order.begin(), order.end(), order.begin(),
                 [&](int64_t place) { return candidates[static_cast<size_t>(place)]; });
  return order;
}

}  // namespace lamina
