// The machine's measured limits of issuing arithmetic, against which benchmarks give their share.
#pragma once

#include <tuple>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/problem.h"

namespace lamina {

struct SynapseKind {
  Synapse synapse = Synapse::kDot;
  DType dtype = DType::kF32;
  Precision precision = Precision::kExact;
  friend bool operator<(const SynapseKind& a, const SynapseKind& b) {
    return std::tie(a.synapse, a.dtype, a.precision) < std::tie(b.synapse, b.dtype, b.precision);
  }
};

/// Synapses a second that `threads` threads reach with the arithmetic of backend cpu alone, on independent registers of
/// the widest vectors. A vector takes, for dot in f32, one multiply-add; for l1 a subtraction, an absolute value and an
/// addition written as multiply-add by 1 (0004-distance-synapses.md). l1 of bytes takes one SAD and an addition for 8 a
/// lane, and so on (0006-element-types.md). The best of several short runs; about 0.2 s.
double MeasureSynapseLimit(const SynapseKind& kind, int threads);

/// The same of the GPU of backend cuda and its own kernels; 0 where it is not known. Throws Error without a GPU.
double MeasureDeviceSynapseLimit(const SynapseKind& kind);
/// The bandwidth of the GPU's memory, read and written.
double MeasureDeviceBandwidth();
/// Seconds of cuBLASLt's bare product of a forward pass, the best of some runs; 0 where it is not installed.
double MeasureDeviceLibraryProduct_seconds(DType dtype, Precision precision, int64_t batch, int64_t outputs,
                                           int64_t inputs);

/// The limit of dot in GFLOP/s (2 per multiply-add), f32 or f64.
double MeasureFmaPeak_gflops(DType dtype, int threads);

}  // namespace lamina
