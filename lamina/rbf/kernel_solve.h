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

/// Target less answer of rows x (f64) by `machine`, whose neurons stand at `centres`: rows × outputs.
Matrix ErrorsOf(const KernelMachine& machine, ConstMatrixView centres, ConstMatrixView x, ConstMatrixView y,
                int threads);

}  // namespace lamina
