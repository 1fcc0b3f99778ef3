// The search for a kernel machine's kind, scale, ridge and column weights.
#pragma once

#include "lamina/base/buffer.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

/// FitKernelMachine() for arguments that it has checked. Throws Stopped; without `alpha` where nothing can be solved.
KernelMachine SearchKernels(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options);

}  // namespace lamina
