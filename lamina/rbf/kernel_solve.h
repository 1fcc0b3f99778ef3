// Machines that are solved for, without a search.
#pragma once

#include "lamina/base/buffer.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

/// A machine with what a search has chosen, not solved yet.
KernelMachine OfChoice(const KernelMachine& chosen);

/// SolveKernelMachine() for arguments that it has checked. Throws Stopped; without `alpha` where nothing can be solved.
KernelMachine SolveKernels(ConstMatrixView x, ConstMatrixView y, const KernelMachine& chosen,
                           const KernelMachineOptions& options);

}  // namespace lamina
