// What the rest of the library calls of backend cuda. The backend is not linked with it, as kernels for two kinds of
// GPU are three times as large as everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/backend/gpu_info.h"

namespace lamina {

/// The environment variable that names the plug-in to open, instead of the usual places; "off": none.
inline constexpr const char* kCudaPluginVariable = "LAMINA_CUDA_PLUGIN";

/// Functions of backend cuda, each as its namesake says: BackendRow (backends.h), UsableGpus() there, and
/// MeasureDevice...() (measure/issue_limit.h).
struct CudaFunctions {
  std::string interface;  // CudaInterface() of what it was compiled with
  Verdict (*available)() = nullptr;
  Verdict (*rounds)() = nullptr;
  std::unique_ptr<Backend> (*make)(const BackendOptions&) = nullptr;
  std::vector<GpuInfo> (*gpus)() = nullptr;
  double (*synapse_limit)(Synapse, DType, Precision) = nullptr;
  double (*bandwidth)() = nullptr;
  double (*library_product_seconds)(DType, Precision, int64_t batch, int64_t outputs, int64_t inputs) = nullptr;
};

/// The version of lamina and the layout of what passes between the two: a plug-in of another lamina is not called.
std::string CudaInterface();

/// What was found, once a process: linked with the program (lamina::cuda of the CMake package), or else the plug-in
/// lamina_cuda.so. It is where the variable says, beside the program or library, in lib/lamina, or in the Python
/// package lamina_cuda. `functions` is null where there is none; `reason` then says what to do. Thread-safe.
struct FoundCuda {
  const CudaFunctions* functions = nullptr;
  std::string reason;
};
const FoundCuda& FindCuda();

/// The functions; throws Error(kUnsupported) with the reason where there are none.
const CudaFunctions& RequireCuda();

}  // namespace lamina

/// What a plug-in exports.
extern "C" const lamina::CudaFunctions* LaminaCudaFunctions();
