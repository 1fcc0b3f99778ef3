// What a factor and its inverse say of a kernel machine.
#include "lamina/rbf/kernel_solver.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kStep = cpu::kPanelRows;

AlignedBuffer Doubles(int64_t count) { return AlignedBuffer(count * static_cast<int64_t>(sizeof(double))); }

int64_t RoundedUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

}  // namespace

void SolveLeftOut(const LeftOutTask& task, double* errors) {
  const auto count = std::ssize(task.members);
  double largest = 0;  // by which both sides are divided: Solve() wants a diagonal of about 1
  for (int64_t m = 0; m < count; ++m) {
    largest = std::max(largest, task.block[m * count + m]);
  }
  KernelSolver block(count, task.outputs, 1, /*inverse=*/false);
  const AlignedBuffer wanted = Doubles(task.outputs * block.stride());
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t k = 0; k <= m; ++k) {
      block.At(m, k) = task.block[m * count + k] / largest;
    }
    for (int64_t c = 0; c < task.outputs; ++c) {
      wanted.As<double>()[static_cast<size_t>(c * block.stride() + m)] =
          task.alpha[c * task.stride + task.members[static_cast<size_t>(m)]] / largest;
    }
  }
  const bool solved = block.Solve(wanted.As<double>().data());
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t c = 0; c < task.outputs; ++c) {
      errors[m * task.outputs + c] = solved ? block.alpha()[c * block.stride() + m] : NAN;
    }
  }
}

template <class T>
int64_t KernelSolverOf<T>::StrideOf(int64_t rows) {
  return PanelsOf(rows) * kStep + cpu::kProductStep;  // rows a power of two apart share few cache sets
}

template <class T>
int64_t KernelSolverOf<T>::Bytes(int64_t rows, int64_t outputs, bool inverse) {
  return Cholesky<T>::Bytes(rows, outputs, inverse) +
         (outputs + 1) * StrideOf(rows) * static_cast<int64_t>(sizeof(double));
}

template <class T>
KernelSolverOf<T>::KernelSolverOf(int64_t rows, int64_t outputs, int threads, bool inverse)
    : outputs_(outputs),
      threads_(threads),
      has_inverse_(inverse),
      stride_(StrideOf(rows)),
      factor_(rows, outputs, threads, inverse),
      alpha_(Doubles(outputs * stride_)),
      diagonal_(Doubles(PanelsOf(rows) * kStep)) {}

template <class T>
bool KernelSolverOf<T>::Solve(const double* targets) {
  for (int64_t i = 0; i < rows(); ++i) {
    for (int64_t c = 0; c < outputs_; ++c) {
      factor_.Target(i, c) = static_cast<T>(targets[c * stride_ + i]);
    }
  }
  if (!factor_.Factorise(kLeastPivot)) {
    return false;
  }
  has_inverse_ ? AlphaByInverse() : AlphaBySteps();
  return true;
}

// alpha = L^-T (L^-1 Y), and the diagonal of the inverse.
template <class T>
void KernelSolverOf<T>::AlphaByInverse() {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  RunTeam(threads_, [&](Team team) {
    for (int64_t p = team.thread; p < factor_.panels(); p += team.size) {
      const int64_t first = p * kStep;
      const T* const panel = factor_.InversePanel(p) + first * kStep;
      alignas(64) std::array<T, static_cast<size_t>(kStep)> sums;
      kernels.squares(panel, rows() - first, sums.data());
      std::copy(sums.begin(), sums.end(), &diagonal_.As<double>()[static_cast<size_t>(first)]);
      for (int64_t c = 0; c < outputs_; ++c) {
        double* const alpha = alpha_.As<double>().data() + c * stride_ + first;
        sums.fill(0);
        kernels.subtract_rows(panel, rows() - first, &factor_.Target(first, c), kStep, sums.data());
        std::transform(sums.begin(), sums.end(), alpha, [](T sum) { return -static_cast<double>(sum); });
        std::fill(alpha + std::min(kStep, rows() - first), alpha + kStep, 0.0);
      }
    }
  });
}

template <class T>
void KernelSolverOf<T>::AlphaBySteps() {
  RunTeam(threads_, [&](Team team) {
    const AlignedBuffer buffer(stride_ * static_cast<int64_t>(sizeof(T)));
    T* const column = buffer.As<T>().data();
    for (int64_t c = team.thread; c < outputs_; c += team.size) {
      for (int64_t i = 0; i < rows(); ++i) {
        column[i] = factor_.Target(i, c);
      }
      factor_.SolveTurned(column);
      std::copy_n(column, rows(), alpha_.As<double>().data() + c * stride_);
    }
  });
}

template <class T>
void KernelSolverOf<T>::LeftOut(std::span<const int64_t> members, double* errors) const {
  const auto count = std::ssize(members);
  const double* const alpha = alpha_.As<double>().data();
  const auto error = [&](int64_t m, int64_t c) -> double& { return errors[m * outputs_ + c]; };
  if (count == 1) {
    for (int64_t c = 0; c < outputs_; ++c) {
      error(0, c) = alpha[c * stride_ + members[0]] / InverseDiagonal(members[0]);
    }
    return;
  }
  const int64_t first = *std::min_element(members.begin(), members.end());
  const int64_t depth = RoundedUp(rows() - first, cpu::kProductStep);
  const AlignedBuffer rows_of_inverse = Doubles(count * depth);  // beside each other
  double* const beside = rows_of_inverse.As<double>().data();
  for (int64_t m = 0; m < count; ++m) {
    const int64_t row = members[static_cast<size_t>(m)];
    for (int64_t j = row; j < rows(); ++j) {
      beside[m * depth + j - first] = factor_.InverseRow(row)[j * kStep];
    }
  }
  const AlignedBuffer products = Doubles(count * count);
  double* const product = products.As<double>().data();
  cpu::SymmetricKernels().products(
      {beside, depth, beside, depth, product, count, count, count, depth, /*subtract=*/false});
  SolveLeftOut({product, members, alpha, stride_, outputs_}, errors);
}

template <class T>
void KernelSolverOf<T>::ByEarlier(int64_t i, int64_t begin, double* errors) const {
  const T* const row = factor_.Panel(i / kStep) + i % kStep;
  for (int64_t c = 0; c < outputs_; ++c) {
    double sum = 0;
    for (int64_t j = begin; j <= i; ++j) {
      sum += static_cast<double>(row[j * kStep]) * static_cast<double>(factor_.Target(j, c));
    }
    errors[c] = sum;
  }
}

template class KernelSolverOf<float>;
template class KernelSolverOf<double>;

}  // namespace lamina
