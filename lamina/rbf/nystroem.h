// Kernel machines of many rows with some of them as centers (Nyström): memory grows with the square of the centers,
// time with the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

/// Centers for so many rows: as many as some 1.5e12 operations of SolveByCentres() allow, 500 to 4,000.
int64_t CentresFor(int64_t rows);

/// What SolveByCentres() takes beside x and y.
int64_t CentresBytes(int64_t rows, int64_t columns, int64_t outputs, int64_t centres);

/// SolveByCentres() (kernel_machine.h) for arguments that it has checked. Throws Stopped; without `alpha` where nothing
/// can be solved.
KernelMachine SolveCentres(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& centres,
                           const KernelMachine& chosen, const KernelMachineOptions& options);

}  // namespace lamina
