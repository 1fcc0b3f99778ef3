// With K(centers, centers) = L L', rows B = K(x, centers) L'^-1 make an ordinary ridge regression: (B'B + ridge I) b =
// B'y, alpha = L'^-1 b. Its condition is that of the ridge, and rows are needed some at a time.
#include "lamina/rbf/nystroem.h"

#include <algorithm>
#include <cmath>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/stop.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/kernel_solve.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_system.h"

namespace lamina {
namespace {

constexpr double kOperationsOfCentres = 1.5e12;
constexpr int64_t kFewestCentres = 500;
constexpr int64_t kMostCentres = 4000;
constexpr double kLeastPivotOfCentres = 1e-14;
constexpr int64_t kChunkPanels = 8;  // of rows, whose squares are added at once
constexpr int64_t kSide = cpu::kPanelRows;
constexpr int64_t kBlockSize = kSide * kSide;

class CentreRegression {
 public:
  CentreRegression(ConstMatrixView x, ConstMatrixView y, ConstMatrixView centres, const KernelMachine& chosen,
                   const KernelMachineOptions& options)
      : y_(y),
        options_(options),
        shape_{chosen.kind.p, chosen.kind.power, chosen.scale},
        ridge_(chosen.ridge),
        rows_(x, chosen.feature_weights, chosen.kind.p, options.threads),
        centres_(centres, chosen.feature_weights, chosen.kind.p, options.threads),
        count_(centres.rows),
        panels_(PanelsOf(centres.rows)),
        between_(count_, 0, options.threads, /*inverse=*/false),
        squares_(count_, y.cols, options.threads, /*inverse=*/false),
        chunk_(kChunkPanels * panels_ * kBlockSize * 8),
        turned_(kChunkPanels * panels_ * kBlockSize * 8),
        answers_(y.cols * panels_ * kSide * 8) {}

  /// Factorizes the kernel of the centers with `jitter` added; false where it is not positive definite.
  bool FactoriseCentres(double jitter) {
    EachPanel(options_.threads, count_, [&](int64_t p) {
      double* const panel = between_.Panel(p);
      const int64_t end = std::min(count_, (p + 1) * kSide);
      centres_.PanelOfDistances(p, panel);
      cpu::SymmetricKernels().kernels(panel, kSide * end, shape_, panel);
      for (int64_t i = p * kSide; i < end; ++i) {
        panel[TrianglePlace(i, i) - TrianglePlace(p * kSide, 0)] = 1 + jitter;
      }
    });
    return between_.Factorise(kLeastPivotOfCentres);
  }

  /// B'B and B'y of all rows.
  void AddRows() {
    const int64_t all = PanelsOf(y_.rows);
    for (int64_t first = 0; first < all; first += kChunkPanels) {
      StopPoint();
      const int64_t panels = std::min(kChunkPanels, all - first);
      RunTeam(options_.threads, [&](Team team) {
        for (int64_t g = team.thread; g < panels; g += team.size) {
          RowsOf(first + g, chunk_.As<double>().data() + g * panels_ * kBlockSize);
          Turn(g);
        }
        team.Barrier();
        team.Share(panels_, 0, [&](int64_t begin, int64_t end) {
          for (int64_t p = begin; p < end; ++p) {
            for (int64_t q = 0; q <= p; ++q) {
              cpu::FactorKernels<double>().update(Turned(p), Turned(q), squares_.Panel(p) + q * kBlockSize,
                                                  panels * kSide);
            }
          }
        });
        for (int64_t c = team.thread; c < y_.cols; c += team.size) {
          for (int64_t g = 0; g < panels; ++g) {
            AddAnswers(first + g, chunk_.As<double>().data() + g * panels_ * kBlockSize, c);
          }
        }
      });
    }
  }

  /// Alpha, centers × outputs; false where the ridge is too small for it.
  bool Solve(Matrix& alpha) {
    EachPanel(options_.threads, count_, [&](int64_t p) {
      double* const panel = squares_.Panel(p);
      std::for_each(panel, panel + (p + 1) * kBlockSize, [](double& sum) { sum = -sum; });
      for (int64_t i = p * kSide; i < std::min(count_, (p + 1) * kSide); ++i) {
        panel[TrianglePlace(i, i) - TrianglePlace(p * kSide, 0)] += ridge_;
      }
    });
    for (int64_t c = 0; c < y_.cols; ++c) {
      for (int64_t i = 0; i < count_; ++i) {
        squares_.Target(i, c) = -Answers(c)[i];
      }
    }
    if (!squares_.Factorise(0)) {
      return false;
    }
    alpha = Matrix(count_, y_.cols, DType::kF64);
    std::vector<double> column(static_cast<size_t>(count_));
    for (int64_t c = 0; c < y_.cols; ++c) {
      for (int64_t i = 0; i < count_; ++i) {
        column[static_cast<size_t>(i)] = squares_.Target(i, c);
      }
      squares_.SolveTurned(column.data());
      between_.SolveTurned(column.data());
      for (int64_t i = 0; i < count_; ++i) {
        alpha.Row<double>(i)[c] = column[static_cast<size_t>(i)];
      }
    }
    return true;
  }

 private:
  double* Turned(int64_t p) { return turned_.As<double>().data() + p * kChunkPanels * kBlockSize; }
  double* Answers(int64_t c) { return answers_.As<double>().data() + c * panels_ * kSide; }
  double RootOfWeight(int64_t row) const {
    return options_.sample_weights.empty() ? 1 : std::sqrt(options_.sample_weights[static_cast<size_t>(row)]);
  }

  // Rows of B, 32 of them, times the roots of their weights; zeros behind the last row and the last center.
  void RowsOf(int64_t p, double* panel) {
    cpu::ColumnRows columns = rows_.columns();
    columns.columns += p * kSide;
    for (int64_t i = 0; i < count_; ++i) {
      cpu::SymmetricKernels().distances(centres_.Row(i), columns, kSide, shape_.p, panel + i * kSide);
    }
    cpu::SymmetricKernels().kernels(panel, kSide * count_, shape_, panel);
    for (int64_t r = 0; r < kSide; ++r) {
      const double root = p * kSide + r < y_.rows ? RootOfWeight(p * kSide + r) : 0;
      for (int64_t i = 0; root != 1 && i < count_; ++i) {
        panel[i * kSide + r] *= root;
      }
    }
    std::fill(panel + count_ * kSide, panel + panels_ * kBlockSize, 0.0);
    between_.SolveRows(panel);
  }

  void Turn(int64_t g) {
    const double* const panel = chunk_.As<double>().data() + g * panels_ * kBlockSize;
    for (int64_t p = 0; p < panels_; ++p) {
      double* const to = Turned(p) + g * kBlockSize;
      for (int64_t i = 0; i < kSide; ++i) {
        for (int64_t r = 0; r < kSide; ++r) {
          to[r * kSide + i] = panel[(p * kSide + i) * kSide + r];
        }
      }
    }
  }

  void AddAnswers(int64_t p, const double* panel, int64_t c) {
    double wanted[kSide] = {};
    for (int64_t r = 0; r < std::min(kSide, y_.rows - p * kSide); ++r) {
      wanted[r] = RootOfWeight(p * kSide + r) * y_.Row<double>(p * kSide + r)[c];
    }
    cpu::FactorKernels<double>().subtract_columns(panel, count_, wanted, Answers(c), 1);
  }

  ConstMatrixView y_;
  const KernelMachineOptions& options_;
  KernelShape shape_;
  double ridge_;
  KernelRows rows_;
  KernelRows centres_;
  int64_t count_;
  int64_t panels_;
  Cholesky<double> between_;  // of the centers
  Cholesky<double> squares_;  // less B'B, then its factor
  AlignedBuffer chunk_;       // panels of rows of B
  AlignedBuffer turned_;      // panels of centers, the chunk's rows as columns
  AlignedBuffer answers_;     // less B'y, output by output
};

}  // namespace

int64_t CentresFor(int64_t rows) {
  const double most = std::sqrt(kOperationsOfCentres / 2 / static_cast<double>(std::max<int64_t>(1, rows)));
  return std::min(rows, std::clamp(static_cast<int64_t>(most), kFewestCentres, kMostCentres));
}

int64_t CentresBytes(int64_t rows, int64_t columns, int64_t outputs, int64_t centres) {
  return Cholesky<double>::Bytes(centres, 0, false) + Cholesky<double>::Bytes(centres, outputs, false) +
         (2 * kChunkPanels * kSide + outputs) * PanelsOf(centres) * kSide * 8 +
         2 * columns * (KernelSolver::StrideOf(rows) + KernelSolver::StrideOf(centres)) * 8;
}

KernelMachine SolveCentres(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& centres,
                           const KernelMachine& chosen, const KernelMachineOptions& options) {
  KernelMachine machine = OfChoice(chosen);
  const Matrix some = ChosenRows(x, centres);
  bool solved = false;
  for (double jitter = 0; !solved && jitter < 1; jitter = jitter == 0 ? kFirstJitter : 10 * jitter) {
    CentreRegression regression(x, y, some.view(), chosen, options);
    ++machine.tried;
    machine.jitter = jitter;
    if (regression.FactoriseCentres(jitter)) {
      regression.AddRows();
      solved = regression.Solve(machine.alpha);
    }
  }
  machine.complete = true;
  return machine;
}

}  // namespace lamina
