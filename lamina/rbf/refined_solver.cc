// Conjugate gradients for targets side by side, each with numbers of its own.
#include "lamina/rbf/refined_solver.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kPanel = cpu::kPanelRows;
constexpr int64_t kFewTargets = 16;  // by themselves; more are 32 at a time, with zeros
constexpr int64_t kGroups = 8;       // of panels: each has a product of its own, for any number of threads
constexpr int64_t kVectors = 5;
constexpr int64_t kMostSteps = 60;
constexpr double kSmallEnough = 1e-12;  // of a residual beside the targets
constexpr float kLeastNarrowPivot = 1e-7F;
// Added to the diagonal of what is factorized in f32, in turn: it only makes for more steps.
constexpr float kAdded[] = {0, 1e-6F, 1e-5F, 1e-4F, 1e-3F};

using Numbers = std::vector<double>;  // one a target

int64_t TargetsBeside(int64_t outputs) { return outputs <= kFewTargets ? outputs : kPanel; }
int64_t GroupsOf(int64_t outputs) { return outputs <= kFewTargets ? kGroups : 0; }

// Sums over rows in their order.
Numbers Products(const double* a, const double* b, int64_t rows, int64_t targets) {
  Numbers sums(static_cast<size_t>(targets));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < targets; ++c) {
      sums[static_cast<size_t>(c)] += a[i * targets + c] * b[i * targets + c];
    }
  }
  return sums;
}

// y += factor x, or with `turned` y = x + factor y.
void Add(const Numbers& factor, const double* x, double* y, int64_t rows, bool turned = false) {
  const auto targets = std::ssize(factor);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < targets; ++c) {
      const int64_t at = i * targets + c;
      const double by = factor[static_cast<size_t>(c)];
      y[at] = turned ? x[at] + by * y[at] : y[at] + by * x[at];
    }
  }
}

}  // namespace

RefinedSolver::RefinedSolver(int64_t rows, int64_t outputs, int threads)
    : rows_(rows),
      outputs_(outputs),
      threads_(threads),
      panels_(PanelsOf(rows)),
      beside_(TargetsBeside(outputs)),
      size_(panels_ * kPanel * beside_),
      matrix_(TriangleSize(rows) * static_cast<int64_t>(sizeof(double))),
      factor_(rows, 0, threads, /*inverse=*/false),
      vectors_((kVectors + GroupsOf(outputs)) * size_ * static_cast<int64_t>(sizeof(double))),
      narrow_(size_ * static_cast<int64_t>(sizeof(float))) {}

int64_t RefinedSolver::Bytes(int64_t rows, int64_t outputs) {
  return TriangleSize(rows) * 8 + Cholesky<float>::Bytes(rows, 0, false) +
         ((kVectors + GroupsOf(outputs)) * 8 + 4) * PanelsOf(rows) * kPanel * TargetsBeside(outputs) +
         2 * outputs * rows * 8;
}

bool RefinedSolver::Factorise() {
  for (const float added : kAdded) {
    RunTeam(threads_, [&](Team team) {
      for (int64_t p = team.thread; p < panels_; p += team.size) {
        const double* const from = Panel(p);
        float* const to = factor_.Panel(p);
        std::transform(from, from + kPanel * kPanel * (p + 1), to,
                       [](double value) { return static_cast<float>(value); });
        for (int64_t i = 0; i < kPanel; ++i) {
          to[(p * kPanel + i) * kPanel + i] += added;
        }
      }
    });
    if (factor_.Factorise(kLeastNarrowPivot)) {
      return true;
    }
  }
  return false;
}

// y = -A x for 32 targets: every 32 columns of y from the panel that has them as rows, then from panels below.
void RefinedSolver::TimesPanel(const double* x, double* y) {
  const cpu::FactorTable<double>& kernels = cpu::FactorKernels<double>();
  RunTeam(threads_, [&](Team team) {
    for (int64_t p = team.thread; p < panels_; p += team.size) {
      double* const own = y + p * kPanel * kPanel;
      std::fill_n(own, kPanel * kPanel, 0.0);
      kernels.update(x, Panel(p), own, std::min(rows_, (p + 1) * kPanel));
      for (int64_t from = p + 1; from < panels_; ++from) {
        kernels.update_turned(x + from * kPanel * kPanel, Panel(from) + p * kPanel * kPanel, own);
      }
    }
  });
}

// y = -A x for a few: each block of a panel is read once, for its own rows and for those it has as columns.
void RefinedSolver::TimesFew(const double* x, double* y) {
  const cpu::FactorTable<double>& kernels = cpu::FactorKernels<double>();
  double* const products = vectors_.As<double>().data() + kVectors * size_;
  RunTeam(threads_, [&](Team team) {
    double own[kFewTargets * kPanel];
    double sums[kFewTargets * kPanel];
    for (int64_t group = team.thread; group < kGroups; group += team.size) {
      double* const product = products + group * size_;
      std::fill_n(product, size_, 0.0);
      for (int64_t p = group; p < panels_; p += kGroups) {
        const int64_t first = p * kPanel * beside_;
        for (int64_t c = 0; c < beside_; ++c) {
          for (int64_t r = 0; r < kPanel; ++r) {
            own[c * kPanel + r] = x[first + r * beside_ + c];
          }
        }
        std::fill_n(sums, beside_ * kPanel, 0.0);
        for (int64_t block = 0; block <= p; ++block) {
          const int64_t at = block * kPanel * beside_;
          const double* const elements = Panel(p) + block * kPanel * kPanel;
          for (int64_t c = 0; c < beside_; ++c) {
            kernels.subtract_rows(elements, kPanel, x + at + c, beside_, sums + c * kPanel);
            if (block < p) {
              kernels.subtract_columns(elements, kPanel, own + c * kPanel, product + at + c, beside_);
            }
          }
        }
        for (int64_t c = 0; c < beside_; ++c) {
          for (int64_t r = 0; r < kPanel; ++r) {
            product[first + r * beside_ + c] += sums[c * kPanel + r];
          }
        }
      }
    }
  });
  std::copy_n(products, size_, y);
  for (int64_t group = 1; group < kGroups; ++group) {
    std::transform(y, y + size_, products + group * size_, y, std::plus<>());
  }
}

void RefinedSolver::Times(const double* x, double* y) {
  beside_ == kPanel ? TimesPanel(x, y) : TimesFew(x, y);
  std::transform(y, y + rows_ * beside_, y, std::negate<>());
  std::fill(y + rows_ * beside_, y + size_, 0.0);
}

void RefinedSolver::Precondition(const double* r, double* z) {
  float* const narrow = narrow_.As<float>().data();
  Numbers scales(static_cast<size_t>(beside_));  // residuals get small: each has the size 1 in f32
  const auto each = [&](const auto& fn) {
    for (int64_t row = 0; row < size_; row += beside_) {
      for (int64_t c = 0; c < beside_; ++c) {
        fn(row + c, scales[static_cast<size_t>(c)]);
      }
    }
  };
  each([&](int64_t at, double& scale) { scale = std::max(scale, std::abs(r[at])); });
  std::replace(scales.begin(), scales.end(), 0.0, 1.0);
  each([&](int64_t at, double scale) { narrow[at] = static_cast<float>(r[at] / scale); });
  beside_ == kPanel ? factor_.SolvePanel(narrow) : factor_.SolveFew(narrow, beside_);
  each([&](int64_t at, double scale) { z[at] = static_cast<double>(narrow[at]) * scale; });
}

// x from 0; r has the targets at first.
bool RefinedSolver::Refine(double* x, double* r) {
  double* const direction = r + size_;
  double* const product = direction + size_;
  double* const z = product + size_;
  std::fill_n(x, size_, 0.0);
  const auto products = [&](const double* a, const double* b) { return Products(a, b, rows_, beside_); };
  const Numbers wanted = products(r, r);
  const auto done = [&](const Numbers& squares) {
    for (size_t c = 0; c < squares.size(); ++c) {
      if (squares[c] > kSmallEnough * kSmallEnough * wanted[c] || !std::isfinite(squares[c])) {
        return false;
      }
    }
    return true;
  };
  Precondition(r, direction);
  Numbers of_r = products(r, direction);
  const auto quotient = [](const Numbers& a, const Numbers& b, double sign) {
    Numbers all(a.size());
    for (size_t c = 0; c < all.size(); ++c) {
      all[c] = b[c] == 0 ? 0 : sign * a[c] / b[c];
    }
    return all;
  };
  for (steps_ = 1; steps_ <= kMostSteps; ++steps_) {
    StopPoint();
    Times(direction, product);
    const Numbers curves = products(direction, product);
    Add(quotient(of_r, curves, 1), direction, x, rows_);
    Add(quotient(of_r, curves, -1), product, r, rows_);
    if (done(products(r, r))) {
      return true;
    }
    Precondition(r, z);
    const Numbers next = products(r, z);
    Add(quotient(next, of_r, 1), z, direction, rows_, /*turned=*/true);
    of_r = next;
  }
  return false;
}

bool RefinedSolver::Solve(const double* targets, int64_t stride, double* alpha) {
  if (!Factorise()) {
    return false;
  }
  double* const x = vectors_.As<double>().data();
  for (int64_t first = 0; first < outputs_; first += beside_) {
    double* const r = x + size_;
    std::fill_n(r, size_, 0.0);
    const int64_t count = std::min(beside_, outputs_ - first);
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t i = 0; i < rows_; ++i) {
        r[i * beside_ + c] = targets[(first + c) * stride + i];
      }
    }
    if (!Refine(x, r)) {
      return false;
    }
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t i = 0; i < rows_; ++i) {
        alpha[(first + c) * stride + i] = x[i * beside_ + c];
      }
    }
  }
  return true;
}

void RefinedSolver::ByEarlier(int64_t begin, const double* alpha, int64_t stride, double* errors) const {
  const auto row_of_factor = [&](int64_t i) { return factor_.Panel(i / kPanel) + i % kPanel; };
  std::vector<double> turned(static_cast<size_t>((rows_ - begin) * outputs_));  // the end of L' alpha
  for (int64_t i = begin; i < rows_; ++i) {
    const float* const factor = row_of_factor(i);
    for (int64_t j = begin; j <= i; ++j) {
      double* const sums = &turned[static_cast<size_t>((j - begin) * outputs_)];
      for (int64_t c = 0; c < outputs_; ++c) {
        sums[c] += static_cast<double>(factor[j * kPanel]) * alpha[c * stride + i];
      }
    }
  }
  std::fill_n(errors, (rows_ - begin) * outputs_, 0.0);
  for (int64_t i = begin; i < rows_; ++i) {
    const float* const factor = row_of_factor(i);
    double* const sums = errors + (i - begin) * outputs_;
    for (int64_t j = begin; j <= i; ++j) {
      for (int64_t c = 0; c < outputs_; ++c) {
        sums[c] += static_cast<double>(factor[j * kPanel]) * turned[static_cast<size_t>((j - begin) * outputs_ + c)];
      }
    }
  }
}

}  // namespace lamina
