// Conjugate gradients for up to 32 targets side by side, each with numbers of its own.
#include "lamina/rbf/refined_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kTargets = cpu::kPanelRows;
constexpr int64_t kVectors = 5;
constexpr int64_t kMostSteps = 60;
constexpr double kSmallEnough = 1e-12;  // of a residual beside the targets
constexpr float kLeastNarrowPivot = 1e-7F;
// Added to the diagonal of what is factorized in f32, in turn: it only makes for more steps.
constexpr float kAdded[] = {0, 1e-6F, 1e-5F, 1e-4F, 1e-3F};

using Numbers = std::array<double, static_cast<size_t>(kTargets)>;

AlignedBuffer Panels(int64_t panels, int64_t count, size_t size) {
  return AlignedBuffer(panels * kTargets * kTargets * count * static_cast<int64_t>(size));
}

// A number a target, of sums over rows in their order.
Numbers Products(const double* a, const double* b, int64_t rows) {
  Numbers sums{};
  for (int64_t i = 0; i < rows; ++i) {
    for (size_t c = 0; c < sums.size(); ++c) {
      sums[c] += a[static_cast<size_t>(i * kTargets) + c] * b[static_cast<size_t>(i * kTargets) + c];
    }
  }
  return sums;
}

// y += factor x, or with `turned` y = x + factor y.
void Add(const Numbers& factor, const double* x, double* y, int64_t rows, bool turned = false) {
  for (int64_t i = 0; i < rows; ++i) {
    for (size_t c = 0; c < factor.size(); ++c) {
      const size_t at = static_cast<size_t>(i * kTargets) + c;
      y[at] = turned ? x[at] + factor[c] * y[at] : y[at] + factor[c] * x[at];
    }
  }
}

}  // namespace

RefinedSolver::RefinedSolver(int64_t rows, int64_t outputs, int threads)
    : rows_(rows),
      outputs_(outputs),
      threads_(threads),
      panels_(PanelsOf(rows)),
      matrix_(TriangleSize(rows) * static_cast<int64_t>(sizeof(double))),
      factor_(rows, 0, threads, /*inverse=*/false),
      vectors_(Panels(panels_, kVectors, sizeof(double))),
      narrow_(Panels(panels_, 1, sizeof(float))) {}

int64_t RefinedSolver::Bytes(int64_t rows, int64_t outputs) {
  return TriangleSize(rows) * 8 + Cholesky<float>::Bytes(rows, 0, false) +
         (kVectors * 8 + 4) * PanelsOf(rows) * kTargets * kTargets + 2 * outputs * rows * 8;
}

bool RefinedSolver::Factorise() {
  for (const float added : kAdded) {
    RunTeam(threads_, [&](Team team) {
      for (int64_t p = team.thread; p < panels_; p += team.size) {
        const double* const from = Panel(p);
        float* const to = factor_.Panel(p);
        std::transform(from, from + kTargets * kTargets * (p + 1), to,
                       [](double value) { return static_cast<float>(value); });
        for (int64_t i = 0; i < kTargets; ++i) {
          to[(p * kTargets + i) * kTargets + i] += added;
        }
      }
    });
    if (factor_.Factorise(kLeastNarrowPivot)) {
      return true;
    }
  }
  return false;
}

// y = A x: every 32 columns of y from the panel that has them as rows, then from panels below.
void RefinedSolver::Times(const double* x, double* y) const {
  const cpu::FactorTable<double>& kernels = cpu::FactorKernels<double>();
  const double* const matrix = matrix_.As<double>().data();
  RunTeam(threads_, [&](Team team) {
    for (int64_t p = team.thread; p < panels_; p += team.size) {
      double* const own = y + p * kTargets * kTargets;
      std::fill_n(own, kTargets * kTargets, 0.0);
      kernels.update(x, matrix + TrianglePlace(p * kTargets, 0), own, std::min(rows_, (p + 1) * kTargets));
      for (int64_t from = p + 1; from < panels_; ++from) {
        kernels.update_turned(x + from * kTargets * kTargets, matrix + TrianglePlace(from * kTargets, p * kTargets),
                              own);
      }
      std::for_each(own, own + kTargets * kTargets, [](double& value) { value = -value; });
    }
  });
  std::fill(y + rows_ * kTargets, y + panels_ * kTargets * kTargets, 0.0);
}

void RefinedSolver::Precondition(const double* r, double* z) {
  const int64_t size = panels_ * kTargets * kTargets;
  float* const narrow = narrow_.As<float>().data();
  Numbers scales{};  // residuals get small: each has the size 1 in f32
  for (int64_t i = 0; i < rows_ * kTargets; ++i) {
    double& scale = scales[static_cast<size_t>(i % kTargets)];
    scale = std::max(scale, std::abs(r[i]));
  }
  std::replace(scales.begin(), scales.end(), 0.0, 1.0);
  for (int64_t i = 0; i < size; ++i) {
    narrow[i] = static_cast<float>(r[i] / scales[static_cast<size_t>(i % kTargets)]);
  }
  factor_.SolvePanel(narrow);
  for (int64_t i = 0; i < size; ++i) {
    z[i] = static_cast<double>(narrow[i]) * scales[static_cast<size_t>(i % kTargets)];
  }
}

// x from 0; r has the targets at first.
bool RefinedSolver::Refine(double* x, double* r) {
  const int64_t size = panels_ * kTargets * kTargets;
  double* const direction = r + size;
  double* const product = direction + size;
  double* const z = product + size;
  std::fill_n(x, size, 0.0);
  const Numbers wanted = Products(r, r, rows_);
  const auto done = [&](const Numbers& squares) {
    for (size_t c = 0; c < squares.size(); ++c) {
      if (squares[c] > kSmallEnough * kSmallEnough * wanted[c] || !std::isfinite(squares[c])) {
        return false;
      }
    }
    return true;
  };
  Precondition(r, direction);
  Numbers of_r = Products(r, direction, rows_);
  const auto quotient = [](const Numbers& a, const Numbers& b, double sign) {
    Numbers all{};
    for (size_t c = 0; c < all.size(); ++c) {
      all[c] = b[c] == 0 ? 0 : sign * a[c] / b[c];
    }
    return all;
  };
  for (steps_ = 1; steps_ <= kMostSteps; ++steps_) {
    StopPoint();
    Times(direction, product);
    const Numbers curves = Products(direction, product, rows_);
    Add(quotient(of_r, curves, 1), direction, x, rows_);
    Add(quotient(of_r, curves, -1), product, r, rows_);
    if (done(Products(r, r, rows_))) {
      return true;
    }
    Precondition(r, z);
    const Numbers next = Products(r, z, rows_);
    Add(quotient(next, of_r, 1), z, direction, rows_, /*turned=*/true);
    of_r = next;
  }
  return false;
}

bool RefinedSolver::Solve(const double* targets, int64_t stride, double* alpha) {
  if (!Factorise()) {
    return false;
  }
  const int64_t size = panels_ * kTargets * kTargets;
  double* const x = vectors_.As<double>().data();
  for (int64_t first = 0; first < outputs_; first += kTargets) {
    double* const r = x + size;
    std::fill_n(r, size, 0.0);
    const int64_t count = std::min(kTargets, outputs_ - first);
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t i = 0; i < rows_; ++i) {
        r[i * kTargets + c] = targets[(first + c) * stride + i];
      }
    }
    if (!Refine(x, r)) {
      return false;
    }
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t i = 0; i < rows_; ++i) {
        alpha[(first + c) * stride + i] = x[i * kTargets + c];
      }
    }
  }
  return true;
}

void RefinedSolver::ByEarlier(int64_t begin, const double* alpha, int64_t stride, double* errors) const {
  const auto row_of_factor = [&](int64_t i) { return factor_.Panel(i / kTargets) + i % kTargets; };
  std::vector<double> turned(static_cast<size_t>((rows_ - begin) * outputs_));  // the end of L' alpha
  for (int64_t i = begin; i < rows_; ++i) {
    const float* const factor = row_of_factor(i);
    for (int64_t j = begin; j <= i; ++j) {
      double* const sums = &turned[static_cast<size_t>((j - begin) * outputs_)];
      for (int64_t c = 0; c < outputs_; ++c) {
        sums[c] += static_cast<double>(factor[j * kTargets]) * alpha[c * stride + i];
      }
    }
  }
  std::fill_n(errors, (rows_ - begin) * outputs_, 0.0);
  for (int64_t i = begin; i < rows_; ++i) {
    const float* const factor = row_of_factor(i);
    double* const sums = errors + (i - begin) * outputs_;
    for (int64_t j = begin; j <= i; ++j) {
      for (int64_t c = 0; c < outputs_; ++c) {
        sums[c] += static_cast<double>(factor[j * kTargets]) * turned[static_cast<size_t>((j - begin) * outputs_ + c)];
      }
    }
  }
}

}  // namespace lamina
