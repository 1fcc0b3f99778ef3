// The explicit table of backends, in priority order.
#include "lamina/backend/backends.h"

#include <array>

#include "lamina/backend/blas/blas_backend.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/cpu/small_network.h"
#include "lamina/backend/serial/serial_backend.h"
#include "lamina/backend/threads/threads_backend.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"
#if defined(LAMINA_HAVE_CUDA)
#include "lamina/backend/cuda/cuda_backend.h"
#include "lamina/backend/cuda/device.h"
#endif

namespace lamina {
namespace {

Verdict Always() { return Verdict::Yes(); }

#if defined(LAMINA_HAVE_CUDA)
Verdict CudaAvailable() { return cuda::DeviceAvailable(); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions& options) { return cuda::MakeCudaBackend(options); }
std::vector<GpuInfo> CudaGpus() {
  if (!CudaAvailable()) {
    return {};
  }
  const cuda::Device device;
  const cuda::DeviceFacts& facts = device.facts();
  return {{facts.name, std::to_string(facts.compute_major) + "." + std::to_string(facts.compute_minor),
           facts.multiprocessors, facts.memory_bytes, device.FreeMemory_bytes(), facts.driver}};
}
#else
std::vector<GpuInfo> CudaGpus() { return {}; }
Verdict CudaAvailable() { return Verdict::No("this lamina was built without the CUDA toolkit"); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions&) {
  throw Error(ErrorCode::kUnsupported, CudaAvailable().reason);
}
#endif

constexpr std::array<BackendRow, 5> kTable{{
    {"cuda", "NVIDIA GPU: own kernels, cuBLASLt where it is installed", &CudaAvailable, &MakeCuda},
    {"cpu", "blocked vector kernels, fused activation", &Always, &MakeCpuBackend},
    {"blas", "matrix products of the installed CBLAS", &BlasAvailable, &MakeBlasBackend},
    {"threads", "plain loops, minibatch sharded over threads (2016 paper, Algorithm 3)", &Always, &MakeThreadsBackend},
    {"serial", "plain loops, one thread: the baseline", &Always, &MakeSerialBackend},
}};

}  // namespace

std::span<const BackendRow> BackendTable() { return kTable; }

std::vector<std::string> BackendNames() {
  std::vector<std::string> names{"auto"};
  for (const BackendRow& row : kTable) {
    names.emplace_back(row.name);
  }
  return names;
}

const std::string& BackendNamesText() {
  static const std::string text = ChoiceText(BackendNames());
  return text;
}

std::vector<GpuInfo> UsableGpus() { return CudaGpus(); }

std::string_view BackendForTraining(std::string_view name, std::span<const LayerSpec> layers, int64_t batch,
                                    DType dtype, int state_count) {
  NetworkPlanRequest request;
  request.layers = layers;
  request.max_batch = batch;
  request.dtype = dtype;
  request.state_count = state_count;
  return name == "auto" && cpu::SuitsSmallNetwork(request) ? "cpu" : name;
}

std::unique_ptr<Backend> MakeBackend(std::string_view name, const BackendOptions& options) {
  for (const BackendRow& row : kTable) {
    if (name != row.name && name != "auto") {
      continue;
    }
    const Verdict verdict = row.available();
    if (verdict) {
      return row.make(options);
    }
    if (name == row.name) {
      throw Error(ErrorCode::kUnsupported, "backend " + std::string(name) + " is not available: " + verdict.reason);
    }
  }
  ThrowUnknownName(name, BackendNames(), "unknown backend");
}

}  // namespace lamina
