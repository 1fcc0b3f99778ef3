// The explicit table of backends, in priority order.
#include "lamina/backend/backends.h"

#include <fmt/format.h>

#include <array>

#include "lamina/backend/blas/blas_backend.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/cpu/small_network.h"
#include "lamina/backend/serial/serial_backend.h"
#include "lamina/backend/threads/threads_backend.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"
#if defined(LAMINA_HAVE_CUDA)
#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/backend/cuda/cuda_backend.h"
#include "lamina/backend/cuda/device.h"
#endif

namespace lamina {
namespace {

Verdict Always() { return Verdict::Yes(); }

#if defined(LAMINA_HAVE_CUDA)
Verdict CudaAvailable() { return cuda::DeviceAvailable(); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions& options) { return cuda::MakeCudaBackend(options); }
Verdict CudaRounds() {
  const Verdict library = cuda::LtAvailable();
  return library ? library : Verdict::No("products of bf16 operands on the GPU need cuBLASLt: " + library.reason);
}
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
Verdict CudaRounds() { return CudaAvailable(); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions&) {
  throw Error(ErrorCode::kUnsupported, CudaAvailable().reason);
}
#endif

constexpr std::array<BackendRow, 5> kTable{{
    {"cuda", "NVIDIA GPU: own kernels, cuBLASLt where it is installed", &CudaAvailable, &CudaRounds, &MakeCuda},
    {"cpu", "blocked vector kernels, fused activation", &Always, &Always, &MakeCpuBackend},
    {"blas", "matrix products of the installed CBLAS", &BlasAvailable, nullptr, &MakeBlasBackend},
    {"threads", "plain loops, minibatch sharded over threads (2016 paper, Algorithm 3)", &Always, nullptr,
     &MakeThreadsBackend},
    {"serial", "plain loops, one thread: the baseline", &Always, nullptr, &MakeSerialBackend},
}};

}  // namespace

Verdict BackendRow::TrainsIn(DType dtype, Precision precision) const {
  if (precision != Precision::kBFloat16) {
    return Verdict::Yes();
  }
  if (rounds == nullptr) {
    return Verdict::No(fmt::format("backend {} has no products of bf16 operands", name));
  }
  return dtype == DType::kF32
             ? rounds()
             : Verdict::No(fmt::format("bf16 operands are for dot layers in f32, not dot in {}", DTypeName(dtype)));
}

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

const BackendRow& FindBackend(std::string_view name) {
  for (const BackendRow& row : kTable) {
    if (name != row.name && name != "auto") {
      continue;
    }
    const Verdict verdict = row.available();
    if (verdict) {
      return row;
    }
    if (name == row.name) {
      throw Error(ErrorCode::kUnsupported, "backend " + std::string(name) + " is not available: " + verdict.reason);
    }
  }
  ThrowUnknownName(name, BackendNames(), "unknown backend");
}

std::unique_ptr<Backend> MakeBackend(std::string_view name, const BackendOptions& options) {
  return FindBackend(name).make(options);
}

}  // namespace lamina
