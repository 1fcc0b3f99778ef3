// The functions of backend cuda that the rest of the library calls (backend/cuda_functions.h).
#include <string>
#include <vector>

#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/backend/cuda/cuda_backend.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/limits.h"
#include "lamina/backend/cuda_functions.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

Verdict Rounds() {
  const Verdict library = LtAvailable();
  return library ? library : Verdict::No("products of bf16 operands on the GPU need cuBLASLt: " + library.reason);
}

std::vector<GpuInfo> Gpus() {
  if (!DeviceAvailable()) {
    return {};
  }
  const Device device;
  const DeviceFacts& facts = device.facts();
  return {{facts.name, std::to_string(facts.compute_major) + "." + std::to_string(facts.compute_minor),
           facts.multiprocessors, facts.memory_bytes, device.FreeMemory_bytes(), facts.driver}};
}

double SynapseLimit(Synapse synapse, DType dtype, Precision precision) {
  Device device;
  return MeasureSynapseLimit(device, synapse, dtype, precision);
}

double Bandwidth() {
  Device device;
  return MeasureMemoryBandwidth(device);
}

double LibraryProduct_seconds(DType dtype, Precision precision, int64_t batch, int64_t outputs, int64_t inputs) {
  Device device;
  return MeasureLibraryProduct_seconds(device, dtype, precision, batch, outputs, inputs);
}

}  // namespace
}  // namespace lamina::LAMINA_CUDA_NAMESPACE

extern "C" __attribute__((visibility("default"))) const lamina::CudaFunctions* LaminaCudaFunctions() {
  namespace cuda = lamina::LAMINA_CUDA_NAMESPACE;
  static const lamina::CudaFunctions kFunctions{lamina::CudaInterface(),
                                                &cuda::DeviceAvailable,
                                                &cuda::Rounds,
                                                &cuda::MakeCudaBackend,
                                                &cuda::Gpus,
                                                &cuda::SynapseLimit,
                                                &cuda::Bandwidth,
                                                &cuda::LibraryProduct_seconds};
  return &kFunctions;
}
