// Centres of a kernel machine in the order in which answers need them.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

/// Candidates (rows of x), the one that answers need most first: the last is the one whose loss makes the sum of
/// SolveByCentres() grow least, the one before it the next when that is gone, and so on.
std::vector<int64_t> CentresByNeed(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& candidates,
                                   const KernelMachine& chosen, const KernelMachineOptions& options);

}  // namespace lamina
