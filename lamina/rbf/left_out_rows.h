// Which rows of a kernel machine are left out together, and what they are answered by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"

namespace lamina {

class KernelSystems;

/// Rows one by one or by groups, answered by all others; or by times, answered by those of earlier times.
class LeftOutRows {
 public:
  /// `weights`, `groups` and `times` as in KernelMachineOptions. Throws Error(kInvalidArgument) where all times are
  /// one.
  LeftOutRows(int64_t rows, std::span<const double> weights, std::span<const int64_t> groups,
              std::span<const double> times);

  /// Whether systems need the inverse for it.
  bool needs_inverse() const { return earlier_.empty(); }
  double WeightOf(int64_t i) const { return weights_.empty() ? 1 : weights_[static_cast<size_t>(i)]; }

  /// To `errors` (rows × outputs, f64) target less answer of each row, by the last of `systems`; NaN for rows
  /// that are not asked about. The mean square by weights, infinite where that is not a number.
  double Errors(const KernelSystems& systems, Matrix& errors) const;

 private:
  void Take(int64_t row, const double* of_row, Matrix& errors, double& sum, double& weights) const;

  std::span<const double> weights_;
  std::vector<std::vector<int64_t>> members_;  // of groups
  struct Run {
    int64_t begin = 0;
    int64_t end = 0;
  };
  std::vector<Run> earlier_;  // rows of one time each, from the half of the rows on
};

}  // namespace lamina
