// The layers of a kernel machine, and its numbers in them.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/nn/network.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

struct PreparedRows;

/// For one center: columns times their weights, distances, outputs. `scaled`: whether there are such weights.
std::vector<LayerSpec> KernelLayers(const KernelKind& kind, bool scaled, int64_t inputs, int64_t outputs, bool classes);

/// The network of `machine` with the centers rows.x; of classes its answers are over `temperature`.
Network NetworkOfMachine(const KernelMachine& machine, const PreparedRows& rows, DType dtype, bool classes,
                         double temperature);

}  // namespace lamina
