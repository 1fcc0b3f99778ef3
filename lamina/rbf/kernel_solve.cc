// One system of all rows, for what a search has chosen.
#include "lamina/rbf/kernel_solve.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/team.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_system.h"
#include "lamina/rbf/kernel_systems.h"
#include "lamina/rbf/refined_solver.h"

namespace lamina {
namespace {

// The kernel of all rows with what is added to its diagonal, in the panels of `solver`.
template <class Solver>
void FillSystem(const KernelRows& rows, const KernelMachine& machine, double ridge, const KernelMachineOptions& options,
                Solver& solver) {
  const KernelShape shape{machine.kind.p, machine.kind.power, machine.scale};
  const int64_t count = rows.columns().rows;
  EachPanel(options.threads, count, [&](int64_t p) {
    const int64_t begin = p * cpu::kPanelRows;
    const int64_t end = std::min(count, begin + cpu::kPanelRows);
    rows.PanelOfDistances(p, solver.Panel(p));
    cpu::SymmetricKernels().kernels(solver.Panel(p), cpu::kPanelRows * end, shape, solver.Panel(p));
    for (int64_t i = begin; i < end; ++i) {
      const double weight = options.sample_weights.empty() ? 1 : options.sample_weights[static_cast<size_t>(i)];
      solver.At(i, i) = 1 + ridge / weight;
    }
  });
}

// Alpha at c * stride + i, errors of the rows apart to the machine; false where the system cannot be solved.
bool SolveSystem(const KernelRows& rows, double ridge, const KernelMachineOptions& options, const double* targets,
                 int64_t outputs, double* alpha, KernelMachine& machine) {
  const int64_t count = rows.columns().rows;
  const int64_t stride = KernelSolver::StrideOf(count);
  const int64_t begin = count - options.apart;
  Matrix apart(options.apart, outputs, DType::kF64);
  if (count >= kRefinedRows) {
    RefinedSolver solver(count, outputs, options.threads);
    FillSystem(rows, machine, ridge, options, solver);
    if (solver.Solve(targets, stride, alpha)) {
      solver.ByEarlier(begin, alpha, stride, static_cast<double*>(apart.data()));
      machine.apart = std::move(apart);
      return true;
    }
  }
  KernelSolver solver(count, outputs, options.threads, /*inverse=*/false);
  FillSystem(rows, machine, ridge, options, solver);
  if (!solver.Solve(targets)) {
    return false;
  }
  std::copy_n(solver.alpha(), outputs * stride, alpha);
  for (int64_t i = begin; i < count; ++i) {
    solver.ByEarlier(i, begin, apart.Row<double>(i - begin));
  }
  machine.apart = std::move(apart);
  return true;
}

// Where a GPU keeps the factor: a machine of the rows before answers.
Matrix ErrorsApart(ConstMatrixView x, ConstMatrixView y, const KernelMachine& chosen, KernelMachineOptions options) {
  const int64_t begin = x.rows - options.apart;
  if (!options.sample_weights.empty()) {
    options.sample_weights = options.sample_weights.first(static_cast<size_t>(begin));
  }
  options.apart = 0;
  const KernelMachine before = SolveKernels(x.Rows(0, begin), y.Rows(0, begin), chosen, options);
  return ErrorsOf(before, x.Rows(0, begin), x.Rows(begin, x.rows - begin), y.Rows(begin, x.rows - begin),
                  options.threads);
}

}  // namespace

Matrix ErrorsOf(const KernelMachine& machine, ConstMatrixView centres, ConstMatrixView x, ConstMatrixView y,
                int threads) {
  const KernelShape shape{machine.kind.p, machine.kind.power, machine.scale};
  const KernelRows of_centres(centres, machine.feature_weights, machine.kind.p, threads);
  const KernelRows asked(x, machine.feature_weights, machine.kind.p, threads);
  Matrix errors(x.rows, y.cols, DType::kF64);
  RunParts(threads, x.rows, [&](int64_t begin, int64_t end) {
    const AlignedBuffer buffer(of_centres.columns().stride * static_cast<int64_t>(sizeof(double)));
    double* const kernel = buffer.As<double>().data();
    for (int64_t i = begin; i < end; ++i) {
      cpu::SymmetricKernels().distances(asked.Row(i), of_centres.columns(), centres.rows, machine.kind.p, kernel);
      cpu::SymmetricKernels().kernels(kernel, centres.rows, shape, kernel);
      for (int64_t c = 0; c < y.cols; ++c) {
        double error = y.Row<double>(i)[c];
        for (int64_t k = 0; k < centres.rows; ++k) {
          error -= kernel[k] * machine.alpha.Row<double>(k)[c];
        }
        errors.Row<double>(i)[c] = error;
      }
    }
  });
  return errors;
}

KernelMachine OfChoice(const KernelMachine& chosen) {
  KernelMachine machine;
  machine.kind = chosen.kind;
  machine.scale = chosen.scale;
  machine.relative = chosen.relative;
  machine.ridge = chosen.ridge;
  machine.round = chosen.round;
  machine.feature_weights = chosen.feature_weights;
  machine.error = chosen.error;
  machine.errors_of_kinds = chosen.errors_of_kinds;
  return machine;
}

KernelMachine SolveKernels(ConstMatrixView x, ConstMatrixView y, const KernelMachine& chosen,
                           const KernelMachineOptions& options) {
  KernelMachine machine = OfChoice(chosen);
  const int64_t stride = KernelSolver::StrideOf(x.rows);
  const AlignedBuffer buffer(2 * y.cols * stride * 8);
  double* const targets = buffer.As<double>().data();
  double* const alpha = targets + y.cols * stride;
  TurnTargets(y, stride, targets);
  const KernelShape shape{machine.kind.p, machine.kind.power, machine.scale};
  std::unique_ptr<KernelSystems> on_device;
  std::optional<KernelRows> rows;
  if (PlaceOfKernels(options, x.rows).device != nullptr) {
    on_device = MakeKernelSystems(x, y, options, /*inverse=*/false);
    on_device->SetRows(machine.feature_weights, machine.kind.p);
  } else {
    rows.emplace(x, machine.feature_weights, machine.kind.p, options.threads);
  }
  const auto solve = [&](double ridge) {
    if (on_device == nullptr) {
      return SolveSystem(*rows, ridge, options, targets, y.cols, alpha, machine);
    }
    const bool done = on_device->Solve(shape, ridge);
    std::copy_n(on_device->alpha(), done ? y.cols * stride : 0, alpha);
    return done;
  };
  bool solved = false;
  for (double jitter = chosen.jitter; !solved && jitter < 1; jitter = jitter == 0 ? kFirstJitter : 10 * jitter) {
    machine.jitter = jitter;
    solved = solve(machine.ridge + jitter);
    ++machine.tried;
  }
  if (solved) {
    machine.alpha = Matrix(x.rows, y.cols, DType::kF64);
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t c = 0; c < y.cols; ++c) {
        machine.alpha.Row<double>(i)[c] = alpha[c * stride + i];
      }
    }
    if (on_device != nullptr && options.apart > 0) {
      on_device.reset();  // there need not be room for both
      machine.apart = ErrorsApart(x, y, machine, options);
    }
  }
  machine.complete = true;
  return machine;
}

}  // namespace lamina
