// Centers of a kernel machine in the order in which answers need them.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

/// Candidates (rows of x), the most needed first. Dropping the last one makes the sum of SolveByCentres() grow least;
/// once it is gone, so does dropping the one before it, and so on.
std::vector<int64_t> CentresByNeed(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& candidates,
                                   const KernelMachine& chosen, const KernelMachineOptions& options);

}  // namespace lamina
