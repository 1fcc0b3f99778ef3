// Memory by what is reserved, time by operations and a measured rate.
#include "lamina/rbf/kernel_cost.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/hardware.h"
#include "lamina/base/timing.h"
#include "lamina/rbf/cholesky.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {
namespace {

// Operations a second of a factor in f32, the best of some.
double MeasuredRate() {
  constexpr int64_t kRows = 640;
  constexpr int kTimes = 5;
  Cholesky<float> factor(kRows, /*outputs=*/0, /*threads=*/1, /*inverse=*/false);
  double least_seconds = INFINITY;
  for (int time = 0; time < kTimes; ++time) {
    std::fill_n(factor.Panel(0), TriangleSize(kRows), 0.0F);
    for (int64_t i = 0; i < kRows; ++i) {
      factor.Panel(0)[TrianglePlace(i, i)] = 1;
    }
    const Stopwatch watch;
    factor.Factorise(0);
    least_seconds = std::min(least_seconds, watch.Elapsed_seconds());
  }
  return std::pow(static_cast<double>(kRows), 3) / 3 / least_seconds;
}

}  // namespace

bool KernelMachinesFit(const TableSize& size, int64_t machines) {
  constexpr int64_t kFewRows = 700;
  const int64_t usable = size.rows > kFewRows ? QueryHardware().UsableMemory_bytes() : 0;
  return usable == 0 ||  // unknown, or of no weight
         machines * KernelMachineBytes(size.rows, size.columns, size.outputs, /*left_out=*/false) <= usable;
}

double KernelSeconds(const TableSize& size) {
  constexpr double kOfKernel = 30;  // operations of an element, beside two a column
  constexpr double kLarge = 1.6;    // systems that no cache holds, and that are refined, beside the small one
  static const double rate = MeasuredRate();
  const auto rows = static_cast<double>(size.rows);
  const double of_system = rows * rows / 2 * (kOfKernel + 2 * static_cast<double>(size.columns));
  return kLarge * (rows * rows * rows / 3 + of_system) / rate;
}

}  // namespace lamina
