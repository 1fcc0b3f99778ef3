// Kernel machines: RBF neurons at every training row, output weights that are solved for, and learned weights of the
// columns (recursive feature machines, Radhakrishnan et al. 2024). Errors of rows left out choose them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"

namespace lamina {

class Backend;  // backend/backend.h

/// K(x, z) = exp(-(|s (x - z)|_p / scale)^power).
struct KernelKind {
  int p = 1;  // 1 or 2
  double power = 1;
  bool operator==(const KernelKind&) const = default;
};

/// (1, 1), (2, 1), (2, 1.4) and (1, 0.7).
std::vector<KernelKind> UsualKernelKinds();

/// What is tried. A scale is in units of the median distance of different rows, which s moves; `absolute`: as in the
/// formula.
struct KernelChoices {
  std::vector<KernelKind> kinds = UsualKernelKinds();
  std::vector<double> scales{0.3, 1.0, 3.0, 10.0};
  bool absolute = false;
  std::vector<double> ridges{1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0};
  int rounds = 3;  // in which s is learned; 0: it stays
  /// Whether every scale and ridge of a round is tried. Else only those downhill: in the first round of the ridge for
  /// every scale of the first kind, for others from the best before. Later rounds learn s in that place, and at the end
  /// the best of all goes downhill again (docs/decisions/0117).
  bool all = false;
  /// Whether s is a matrix: that of the products of slopes along two columns each. For p = 2 alone.
  bool full = false;
};

struct KernelMachineOptions {
  KernelChoices choices;
  std::vector<double> feature_weights;     // s at the start, as KernelMachine has it; empty: 1
  std::span<const double> sample_weights;  // positive; empty: 1
  std::span<const int64_t> groups;         // a number a row, equal ones are left out together; empty: row by row
  /// Ascending, in the place of groups: a row is answered by those of earlier times; asked is about the later half.
  std::span<const double> times;
  /// Where the way downhill of the first round begins: a scale and a ridge of the choices; else that is found.
  double start_scale = 0;
  double start_ridge = 0;
  /// With one addition to the diagonal, and one more where f32 compares; 0: as many as the search needs.
  int64_t most_systems = 0;
  /// SolveKernelMachine(): the last so many rows are left out together as well, which costs next to nothing, and on a
  /// GPU a second system.
  int64_t apart = 0;
  int threads = 1;
  /// In whose memory systems are solved where it makes DeviceKernels (backend/device_kernels.h), from so many rows on;
  /// null, or another one: by this processor. SolveByCentres() is the processor's always.
  const Backend* backend = nullptr;
  int64_t least_device_rows = 0;
  double seconds = 0;  // after which no other kind or round is begun; 0: all are
  std::function<bool()> stop_requested;
  std::function<void(int64_t tried)> progress;  // after each matrix solved
};

/// What was found.
struct KernelMachine {
  KernelKind kind;
  double scale = 1;     // as in the formula
  double relative = 1;  // as the choices have it
  double ridge = 1;
  double jitter = 0;  // what had to be added to a ridge that left the matrix indefinite
  int round = 0;
  int64_t tried = 0;  // matrices solved
  /// One a column. KernelChoices::full: columns × columns, row by row; rows times it take the place of weighed ones.
  std::vector<double> feature_weights;
  Matrix alpha;      // rows × outputs, f64
  Matrix left_out;   // rows × outputs: target less answer of each row (or group) left out; NaN: not asked about
  double error = 0;  // mean square of these, by sample weights
  Matrix apart;      // KernelMachineOptions::apart × outputs: target less what all rows before teach; else empty
  /// The least error of each kind, in the order of the choices; NaN for one not tried.
  std::vector<double> errors_of_kinds;
  bool complete = false;  // else stop_requested() ended it, and it is of no use
};

/// Solves (K + ridge I) alpha = y for x (rows × columns) and y (rows × outputs, centred), both f64. A sample weight w
/// divides the row's ridge. Memory: KernelMachineBytes(). Throws Error(kInvalidArgument) for numbers that are not
/// finite and for choices out of range, Error(kResource) where memory is short.
KernelMachine FitKernelMachine(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options);

/// `left_out`: of FitKernelMachine(), else of SolveKernelMachine().
int64_t KernelMachineBytes(int64_t rows, int64_t columns, int64_t outputs, bool left_out = true);

/// Alpha of `chosen` (kind, scale, ridge, feature_weights) for other rows, with the sample weights, threads and
/// stop_requested of `options`. No row is left out by itself, so left_out is empty and error stays that of
/// `chosen`. That takes half the operations and a third of the memory. Throws as FitKernelMachine().
KernelMachine SolveKernelMachine(ConstMatrixView x, ConstMatrixView y, const KernelMachine& chosen,
                                 const KernelMachineOptions& options);

/// Alpha (centers × outputs) of `chosen` that minimizes the sum over rows of weight (y - K(x, centers) alpha)^2 plus
/// ridge alpha' K(centers, centers) alpha. If all rows are centers, it is SolveKernelMachine()'s. `centres`: rows of x,
/// ascending. Memory grows with the square of the centers, time with the rows. Throws as FitKernelMachine().
KernelMachine SolveByCentres(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& centres,
                             const KernelMachine& chosen, const KernelMachineOptions& options);

/// How much each column counts in distances: `weights`, or of a matrix the lengths of its rows beside the longest.
std::vector<double> WeightsAlongColumns(const std::vector<double>& weights, int64_t columns);

/// The mean over rows of the squared slope of the answers along each column of x, summed over outputs. alpha is rows ×
/// outputs; s = feature_weights, one a column. A row has no slope toward itself.
std::vector<double> MeanSquaredSlopes(ConstMatrixView x, const KernelMachine& machine, int threads);

}  // namespace lamina
