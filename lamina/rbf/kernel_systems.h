// The systems of a kernel machine that is searched for: in host memory, or in that of a backend.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lamina/backend/device_kernels.h"
#include "lamina/base/matrix_view.h"
#include "lamina/rbf/kernel_machine.h"
#include "lamina/rbf/slope_weights.h"

namespace lamina {

/// Systems of the same rows and targets, one after another.
class KernelSystems {
 public:
  virtual ~KernelSystems() = default;
  /// Columns have these weights (KernelMachine::feature_weights) and distances are |.|_p from now on.
  virtual void SetRows(std::span<const double> weights, int p) = 0;
  /// The median of some rows, ascending (kernel_rows.h).
  virtual double MedianDistance(std::span<const int64_t> rows) const = 0;
  /// With 1 + ridge / weight on the diagonal. False where that is not positive definite. A stop point now and then.
  virtual bool Solve(const KernelShape& shape, double ridge) = 0;
  /// The same in f32 where that takes half the time and is near enough to compare errors of rows left out; else it is
  /// Solve(). Slopes and machines take what Solve() gives.
  virtual bool Look(const KernelShape& shape, double ridge) { return Solve(shape, ridge); }
  /// Whether the last system was solved in f64.
  virtual bool exact() const { return true; }

  // What the last system solved gave, as KernelSolver has it:
  virtual const double* alpha() const = 0;  // output c of row i at c * KernelSolver::StrideOf(rows) + i
  virtual void LeftOut(std::span<const int64_t> members, double* errors) const = 0;
  virtual void ByEarlier(int64_t i, int64_t begin, double* errors) const = 0;

  /// The slopes of answers by `alpha`, laid out as alpha(), which must outlive them. They end what the last system
  /// gave.
  virtual AnswerSlopes Slopes(const KernelShape& shape, const double* alpha) const = 0;
};

/// On options.backend where PlaceOfKernels() says so. `inverse`: else there is no LeftOut(). All arguments must outlive
/// it. Throws Error(kResource) where memory is short.
std::unique_ptr<KernelSystems> MakeKernelSystems(ConstMatrixView x, ConstMatrixView y,
                                                 const KernelMachineOptions& options, bool inverse);

/// Where systems of so many rows are solved with these options.
struct KernelPlace {
  const MakesDeviceKernels* device = nullptr;  // null: by this processor
  std::string why;                             // it is this processor, though a backend was named
};
KernelPlace PlaceOfKernels(const KernelMachineOptions& options, int64_t rows);

}  // namespace lamina
