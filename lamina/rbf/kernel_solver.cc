// Left-looking Cholesky in blocks of columns, of the matrix with the targets and the identity below it: what becomes of
// these rows is L^-1 times the targets, and L^-1 turned. Every step is a product of rows (symmetric_kernels.h).
#include "lamina/rbf/kernel_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kBlock = 64;
constexpr int64_t kInnerBlock = cpu::kProductStep;
constexpr int64_t kUnitRows = 16;  // of which a thread computes a block's columns at a time
constexpr int64_t kDepth = 512;    // columns taken off at a time: those of the block's rows stay in the second cache

constexpr double kLeastPivot = 1e-14;  // beside a diagonal of 1: what is left of two equal rows is less

struct Square {
  double* at = nullptr;
  int64_t stride = 0;
  double* Row(int64_t i) const { return at + i * stride; }
};

int64_t RoundedUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// The factor in place, and its inverse turned, into zeros. False at a pivot that is not positive.
bool FactoriseFew(Square a, int64_t n, Square turned) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      double sum = a.Row(i)[j];
      for (int64_t k = 0; k < j; ++k) {
        sum -= a.Row(i)[k] * a.Row(j)[k];
      }
      if (i == j && (!(sum > kLeastPivot) || !std::isfinite(sum))) {
        return false;
      }
      a.Row(i)[j] = i == j ? std::sqrt(sum) : sum / a.Row(j)[j];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1 : 0;
      for (int64_t k = j; k < i; ++k) {
        sum -= a.Row(i)[k] * turned.Row(j)[k];
      }
      turned.Row(j)[i] = sum / a.Row(i)[i];
    }
  }
  return true;
}

// One block of columns: rows that it is taken from, and what takes the rest of them to columns of the factor.
struct Panel {
  const cpu::SymmetricTable& kernels;
  Square a;
  int64_t begin;
  int64_t width;
  Square inverse;  // of the block's factor, turned, zeros to whole product steps

  // What columns [from, to) of `count` rows take off.
  void Subtract(Square rows, int64_t count, int64_t from, int64_t to) const {
    if (from < to) {
      kernels.products({rows.at + from, rows.stride, a.Row(begin) + from, a.stride, rows.at + begin, rows.stride, count,
                        width, to - from, /*subtract=*/true});
    }
  }
  void Finish(Square rows, int64_t count) const {
    kernels.times_triangle(rows.at + begin, rows.stride, count, inverse.at, inverse.stride,
                           RoundedUp(width, cpu::kProductStep));
  }
};

// Some rows that a block is computed for; their columns before `first` are zero.
struct Unit {
  Square rows;
  int64_t count;
  int64_t first;
};

void AddUnits(Square rows, int64_t count, int64_t unit_rows, int64_t zero_block, std::vector<Unit>& units) {
  for (int64_t i = 0; i < count; i += unit_rows) {
    units.push_back(
        {{rows.Row(i), rows.stride}, std::min(unit_rows, count - i), zero_block > 0 ? i / zero_block * zero_block : 0});
  }
}

// The lower triangle of a (n × n) becomes its factor, `inverse` (n × n, zeros; or none) the factor's inverse turned,
// `targets` L^-1 times them.
bool FactoriseBlocks(Square a, int64_t n, Square inverse, Square targets, int64_t outputs, int64_t block, int threads) {
  const cpu::SymmetricTable& kernels = cpu::SymmetricKernels();
  std::vector<Unit> units;
  for (int64_t begin = 0; begin < n; begin += block) {
    const int64_t width = std::min(block, n - begin);
    if (begin > 0) {
      kernels.products({a.Row(begin), a.stride, a.Row(begin), a.stride, a.Row(begin) + begin, a.stride, width, width,
                        begin, /*subtract=*/true});
    }
    alignas(64) std::array<double, kBlock * kBlock> factor{};
    alignas(64) std::array<double, kBlock * kBlock> turned{};
    const Square own{factor.data(), kBlock};
    const Square own_inverse{turned.data(), kBlock};
    for (int64_t i = 0; i < width; ++i) {
      std::copy_n(a.Row(begin + i) + begin, i + 1, own.Row(i));
    }
    const bool inner = block == kInnerBlock;
    if (!inner) {
      StopPoint();
    }
    if (inner ? !FactoriseFew(own, width, own_inverse)
              : !FactoriseBlocks(own, width, own_inverse, {}, 0, kInnerBlock, 1)) {
      return false;
    }
    for (int64_t i = 0; i < width; ++i) {
      std::copy_n(own.Row(i), i + 1, a.Row(begin + i) + begin);
      if (inverse.at != nullptr) {
        std::copy_n(own_inverse.Row(i), width, inverse.Row(begin + i) + begin);
      }
    }
    const Panel panel{kernels, a, begin, width, own_inverse};
    units.clear();
    const int64_t unit_rows = std::min(kUnitRows, block);
    AddUnits({a.Row(begin + width), a.stride}, n - begin - width, unit_rows, 0, units);
    AddUnits(inverse, inverse.at != nullptr ? begin : 0, unit_rows, block, units);
    AddUnits(targets, outputs, unit_rows, 0, units);
    RunTeam(threads, [&](Team team) {
      for (int64_t from = 0; from < begin; from += kDepth) {
        const int64_t to = std::min(begin, from + kDepth);
        for (int64_t u = team.thread; u < std::ssize(units); u += team.size) {
          const Unit& unit = units[static_cast<size_t>(u)];
          panel.Subtract(unit.rows, unit.count, std::max(from, unit.first), to);
        }
      }
      for (int64_t u = team.thread; u < std::ssize(units); u += team.size) {
        panel.Finish(units[static_cast<size_t>(u)].rows, units[static_cast<size_t>(u)].count);
      }
    });
  }
  return true;
}

AlignedBuffer Doubles(int64_t count) { return AlignedBuffer(count * static_cast<int64_t>(sizeof(double))); }

}  // namespace

int64_t KernelSolver::StrideOf(int64_t rows) {
  const int64_t whole = RoundedUp(rows, cpu::kProductStep);
  return whole % kBlock == 0 ? whole + cpu::kProductStep : whole;  // rows a power of two apart share few cache sets
}

int64_t KernelSolver::Bytes(int64_t rows, int64_t outputs, bool inverse) {
  return ((inverse ? 2 : 1) * rows + 2 * outputs) * StrideOf(rows) * static_cast<int64_t>(sizeof(double));
}

KernelSolver::KernelSolver(int64_t rows, int64_t outputs, int threads, bool inverse)
    : rows_(rows),
      outputs_(outputs),
      threads_(threads),
      has_inverse_(inverse),
      stride_(StrideOf(rows)),
      matrix_(Doubles(rows * stride_)),
      inverse_(Doubles(inverse ? rows * stride_ : 0)),
      targets_(Doubles(outputs * stride_)),
      alpha_(Doubles(outputs * stride_)),
      diagonal_(Doubles(rows)) {
  cpu::ApplyInstructionSets();
}

bool KernelSolver::Factorise() {
  const Square inverse{has_inverse_ ? inverse_.As<double>().data() : nullptr, stride_};
  RunParts(threads_, has_inverse_ ? rows_ : 0,
           [&](int64_t begin, int64_t end) { std::fill(inverse.Row(begin), inverse.Row(end), 0.0); });
  return FactoriseBlocks({Row(0), stride_}, rows_, inverse, {targets_.As<double>().data(), stride_}, outputs_, kBlock,
                         threads_);
}

bool KernelSolver::Solve(const double* targets) {
  std::copy_n(targets, outputs_ * stride_, targets_.As<double>().data());
  if (!Factorise()) {
    return false;
  }
  has_inverse_ ? AlphaByInverse() : AlphaBySteps();
  return true;
}

// alpha = L^-T (L^-1 Y), and the diagonal of the inverse.
void KernelSolver::AlphaByInverse() {
  const cpu::SymmetricTable& kernels = cpu::SymmetricKernels();
  double* const inverse = inverse_.As<double>().data();
  const int64_t blocks = (rows_ + kBlock - 1) / kBlock;
  const int64_t whole = RoundedUp(rows_, cpu::kProductStep);
  RunTeam(threads_, [&](Team team) {
    for (int64_t block = team.thread; block < blocks; block += team.size) {
      const int64_t first = block * kBlock;
      const int64_t count = std::min(kBlock, rows_ - first);
      double* const rows = inverse + first * stride_ + first;
      kernels.products({targets_.As<double>().data() + first, stride_, rows, stride_,
                        alpha_.As<double>().data() + first, stride_, outputs_, count, whole - first,
                        /*subtract=*/false});
      for (int64_t i = 0; i < count; ++i) {
        double* const row = rows + i * stride_;
        kernels.products({row, stride_, row, stride_, &diagonal_.As<double>()[static_cast<size_t>(first + i)], 1, 1, 1,
                          whole - first, /*subtract=*/false});
      }
    }
  });
}

// The same row by row of L from the last: each number of alpha that is known leaves the sums before it.
void KernelSolver::AlphaBySteps() {
  double* const alpha = alpha_.As<double>().data();
  std::copy_n(targets_.As<double>().data(), outputs_ * stride_, alpha);
  for (int64_t i = rows_ - 1; i >= 0; --i) {
    const double* const row = Row(i);
    for (int64_t c = 0; c < outputs_; ++c) {
      double* const sums = alpha + c * stride_;
      const double value = sums[i] /= row[i];
      for (int64_t j = 0; j < i; ++j) {
        sums[j] -= value * row[j];
      }
    }
  }
}

void KernelSolver::LeftOut(std::span<const int64_t> members, double* errors) const {
  const auto count = std::ssize(members);
  const double* const alpha = alpha_.As<double>().data();
  const auto error = [&](int64_t m, int64_t c) -> double& { return errors[m * outputs_ + c]; };
  if (count == 1) {
    for (int64_t c = 0; c < outputs_; ++c) {
      error(0, c) = alpha[c * stride_ + members[0]] / InverseDiagonal(members[0]);
    }
    return;
  }
  const double* const inverse = inverse_.As<double>().data();
  const int64_t first = *std::min_element(members.begin(), members.end()) / kBlock * kBlock;
  const int64_t depth = RoundedUp(rows_, cpu::kProductStep) - first;
  const AlignedBuffer rows = Doubles(count * depth);  // those of the inverse, beside each other
  double* const beside = rows.As<double>().data();
  for (int64_t m = 0; m < count; ++m) {
    std::copy_n(inverse + members[static_cast<size_t>(m)] * stride_ + first, depth, beside + m * depth);
  }
  KernelSolver block(count, outputs_, 1);
  cpu::SymmetricKernels().products(
      {beside, depth, beside, depth, block.Row(0), block.stride(), count, count, depth, /*subtract=*/false});
  const AlignedBuffer wanted = Doubles(outputs_ * block.stride());
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t c = 0; c < outputs_; ++c) {
      wanted.As<double>()[static_cast<size_t>(c * block.stride() + m)] =
          alpha[c * stride_ + members[static_cast<size_t>(m)]];
    }
  }
  const bool solved = block.Solve(wanted.As<double>().data());
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t c = 0; c < outputs_; ++c) {
      error(m, c) = solved ? block.alpha()[c * block.stride() + m] : NAN;
    }
  }
}

}  // namespace lamina
