// The explicit table of backends, in priority order.
#include "lamina/backend/backends.h"

#include <fmt/format.h>

#include <array>

#include "lamina/backend/blas/blas_backend.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/cpu/small_network.h"
#include "lamina/backend/cuda_functions.h"
#include "lamina/backend/serial/serial_backend.h"
#include "lamina/backend/threads/threads_backend.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

Verdict Always() { return Verdict::Yes(); }

Verdict CudaAvailable() {
  const FoundCuda& found = FindCuda();
  return found.functions == nullptr ? Verdict::No(found.reason) : found.functions->available();
}
std::unique_ptr<Backend> MakeCuda(const BackendOptions& options) { return RequireCuda().make(options); }
Verdict CudaRounds() {
  const FoundCuda& found = FindCuda();
  return found.functions == nullptr ? Verdict::No(found.reason) : found.functions->rounds();
}

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

std::vector<GpuInfo> UsableGpus() {
  const FoundCuda& found = FindCuda();
  return found.functions == nullptr ? std::vector<GpuInfo>() : found.functions->gpus();
}

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
