// What is asked of a kernel machine, checked, and its slopes; the search: kernel_search.cc.
#include "lamina/rbf/kernel_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/kernel_search.h"
#include "lamina/rbf/kernel_solve.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_system.h"
#include "lamina/rbf/kernel_systems.h"
#include "lamina/rbf/nystroem.h"
#include "lamina/rbf/refined_solver.h"
#include "lamina/rbf/slope_weights.h"

namespace lamina {
namespace {

void CheckFinite(ConstMatrixView rows, const char* what) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    const double* const row = rows.Row<double>(i);
    if (!std::all_of(row, row + rows.cols, [](double value) { return std::isfinite(value); })) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} of row {} are not finite", what, i + 1));
    }
  }
}

void CheckChoices(const KernelMachineOptions& options, ConstMatrixView x) {
  const KernelChoices& choices = options.choices;
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  const auto all = [](const auto& values, const auto& good) {
    return !values.empty() && std::all_of(values.begin(), values.end(), good);
  };
  const auto not_negative = [](double value) { return value >= 0 && std::isfinite(value); };
  const auto possible = [&](const KernelKind& kind) {
    return (kind.p == 2 || (kind.p == 1 && !choices.full)) && positive(kind.power) && kind.power <= 2;
  };
  if (!all(choices.kinds, possible) || !all(choices.scales, positive) || !all(choices.ridges, not_negative) ||
      choices.rounds < 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "kernels need p = 1 or 2 (with full weights 2), a power above 0 up to 2, positive scales and ridges from 0 on");
  }
  const auto fits = [](size_t size, int64_t count) { return size == 0 || static_cast<int64_t>(size) == count; };
  const bool weighed = fits(options.feature_weights.size(), x.cols) ||
                       (choices.full && fits(options.feature_weights.size(), x.cols * x.cols));
  if (!weighed || !fits(options.sample_weights.size(), x.rows) || !fits(options.groups.size(), x.rows) ||
      !fits(options.times.size(), x.rows) ||
      !std::all_of(options.sample_weights.begin(), options.sample_weights.end(), positive)) {
    throw Error(ErrorCode::kInvalidArgument,
                "weights, groups or times do not fit the rows, or weights are not positive");
  }
  if (!std::is_sorted(options.times.begin(), options.times.end())) {
    throw Error(ErrorCode::kInvalidArgument, "rows of a kernel machine have to stand in the order of their times");
  }
}

}  // namespace

std::vector<KernelKind> UsualKernelKinds() {
  constexpr KernelKind kUsual[] = {{1, 1.0}, {2, 1.0}, {2, 1.4}, {1, 0.7}};
  return {std::begin(kUsual), std::end(kUsual)};
}

namespace {

void CheckRows(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options) {
  if (x.rows == 0 || x.cols == 0 || y.cols == 0 || x.rows != y.rows) {
    throw Error(ErrorCode::kInvalidArgument, "a kernel machine needs rows, columns and a target for each row");
  }
  CheckChoices(options, x);
  CheckFinite(x, "inputs");
  CheckFinite(y, "targets");
  cpu::ApplyInstructionSets();
}

// What `work` gives; a machine that is not complete where it was stopped.
template <class Work>
KernelMachine UnlessStopped(const KernelMachineOptions& options, const Work& work) {
  std::optional<StopScope> scope;
  if (options.stop_requested) {
    scope.emplace(options.stop_requested);
  }
  KernelMachine machine;
  try {
    machine = work();
  } catch (const Stopped&) {
    if (!options.stop_requested) {
      throw;
    }
    return machine;
  }
  if (machine.alpha.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no kernel matrix is positive definite: the rows are too much alike",
                {.remedy = "Use a larger ridge."});
  }
  return machine;
}

}  // namespace

KernelMachine FitKernelMachine(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options) {
  CheckRows(x, y, options);
  return UnlessStopped(options, [&] { return SearchKernels(x, y, options); });
}

KernelMachine SolveKernelMachine(ConstMatrixView x, ConstMatrixView y, const KernelMachine& chosen,
                                 const KernelMachineOptions& options) {
  CheckRows(x, y, options);
  return UnlessStopped(options, [&] { return SolveKernels(x, y, chosen, options); });
}

KernelMachine SolveByCentres(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& centres,
                             const KernelMachine& chosen, const KernelMachineOptions& options) {
  CheckRows(x, y, options);
  return UnlessStopped(options, [&] { return SolveCentres(x, y, centres, chosen, options); });
}

int64_t KernelMachineBytes(int64_t rows, int64_t columns, int64_t outputs, bool left_out) {
  const int64_t stride = KernelSolver::StrideOf(rows);
  const int64_t refined = !left_out && rows >= kRefinedRows ? RefinedSolver::Bytes(rows, outputs) : 0;
  const int64_t looks = left_out && rows >= kLeastRowsInF32 ? KernelSolverOf<float>::Bytes(rows, outputs) : 0;
  return looks + std::max(refined, KernelSolver::Bytes(rows, outputs, left_out)) +
         (left_out ? 2 : 0) * TriangleSize(rows) * 8 + (columns + 2 * outputs) * stride * 8 +
         rows * (2 * columns + 3 * outputs) * 8;
}

std::vector<double> WeightsAlongColumns(const std::vector<double>& weights, int64_t columns) {
  if (std::ssize(weights) == columns) {
    return weights;
  }
  std::vector<double> lengths;
  for (int64_t j = 0; j < columns; ++j) {
    const double* const row = &weights[static_cast<size_t>(j * columns)];
    lengths.push_back(std::sqrt(std::inner_product(row, row + columns, row, 0.0)));
  }
  const double longest = *std::max_element(lengths.begin(), lengths.end());
  std::transform(lengths.begin(), lengths.end(), lengths.begin(),
                 [&](double length) { return longest > 0 ? length / longest : length; });
  return lengths;
}

std::vector<double> MeanSquaredSlopes(ConstMatrixView x, const KernelMachine& machine, int threads) {
  cpu::ApplyInstructionSets();
  const KernelRows rows(x, machine.feature_weights, machine.kind.p, threads);
  const int64_t stride = rows.columns().stride;
  const int64_t outputs = machine.alpha.cols();
  std::vector<double> alpha(static_cast<size_t>(outputs * stride));
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t c = 0; c < outputs; ++c) {
      alpha[static_cast<size_t>(c * stride + i)] = machine.alpha.Row<double>(i)[c];
    }
  }
  return SquaredSlopes({rows,
                        {machine.kind.p, machine.kind.power, machine.scale},
                        alpha.data(),
                        outputs,
                        machine.feature_weights,
                        {},
                        threads});
}

}  // namespace lamina
