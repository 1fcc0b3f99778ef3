// Kernel machines with fewer neurons. Those that answers need least are dropped one by one; rows that had no part in it
// say how many may go.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

/// Operations of PruneCentres(), carefully, where one machine of all rows takes `machine`.
double PruningOperations(int64_t rows, double machine);

struct PrunedCentres {
  std::vector<int64_t> kept;  // rows, ascending; empty: too few can go
  double growth = 0;          // of the mean squared error, as a share of it
};

/// As few rows as centers of `chosen` (SolveByCentres()) as let the mean squared error grow by at most `share`. That is
/// asked of quarters of the rows in turns, of options.groups whole ones, of options.times the latest: the other rows
/// drop centers and solve. `centres`: that the machine has else, evenly spread; the same number as rows: all. Centers
/// are chosen among up to 1,500 rows, evenly spread. The same for any number of threads. Throws Stopped, and as
/// SolveByCentres().
PrunedCentres PruneCentres(ConstMatrixView x, ConstMatrixView y, int64_t centres, const KernelMachine& chosen,
                           const KernelMachineOptions& options, double share);

}  // namespace lamina
