// What the GPU reaches with nothing but a synapse's arithmetic in registers, and moving memory: measured, to compare
// with.
#pragma once

#include "lamina/backend/cuda/device.h"
#include "lamina/neuron/problem.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Synapses a second of lamina's own kernels' arithmetic (no tensor cores); 0 for kinds whose limit is not known.
double MeasureSynapseLimit(Device& device, Synapse synapse, DType dtype, Precision precision);

/// Bytes a second, read and written, of a copy within the device's memory of `size_bytes` each way.
double MeasureMemoryBandwidth(Device& device, int64_t size_bytes = int64_t{1} << 30);

/// Seconds of cuBLASLt's bare product of random x (batch x inputs) and weights (outputs x inputs). It is the tensor
/// cores' rate as far as the library reaches it (f32 with Precision::kFast: TF32). 0 where the library or the type is
/// not there.
double MeasureLibraryProduct_seconds(Device& device, DType dtype, Precision precision, int64_t batch, int64_t outputs,
                                     int64_t inputs);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
