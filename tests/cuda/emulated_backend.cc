// Hides the emulated language from the tests.
#include "tests/cuda/emulated_backend.h"

#include "lamina/backend/cuda/cuda_backend.h"
#include "lamina/backend/cuda/custom_activation.cuh"
#include "lamina/backend/cuda/limits.h"
#include "tests/cuda/softsign.h"

namespace lamina::cuda_emulated {

bool Compiled() { return true; }
std::unique_ptr<Backend> MakeBackend(const BackendOptions& options) { return MakeCudaBackend(options); }
Activation SoftsignOnDevice() { return CustomActivation<Softsign>(); }

std::vector<double> MeasureLimits() {
  Device device;
  return {MeasureSynapseLimit(device, Synapse::kL1, DType::kF32, Precision::kExact),
          MeasureSynapseLimit(device, Synapse::kDot, DType::kF64, Precision::kExact),
          MeasureSynapseLimit(device, Synapse::kL1, DType::kU8, Precision::kExact),
          MeasureSynapseLimit(device, Synapse::kL1, DType::kBF16, Precision::kFast),
          MeasureMemoryBandwidth(device, 1 << 20),
          MeasureLibraryProduct_seconds(device, DType::kF32, Precision::kFast, 48, 32, 16),
          MeasureLibraryProduct_seconds(device, DType::kBF16, Precision::kExact, 48, 32, 16)};
}

}  // namespace lamina::cuda_emulated
